//! Parsing: the sites after statements, and their numbers.

use model::SiteId;

use super::ParseError;
use super::lexer::{SitePosition, Token};
use super::number::{assign, refused};
use super::parse::Parser;
use crate::ir::FunctionId;
use crate::site::{FileId, Frame, Location, Site};

/// A site as the text gives it. Until the end of the text, statements hold its index here instead of its id.
pub(super) struct Mention {
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) id: Option<u32>,
    /// `None` refers to one described elsewhere.
    pub(super) site: Option<Site>,
}

impl Parser<'_> {
    pub(super) fn file_id(&mut self, name: &str) -> FileId {
        let known = self.program.files.iter_enumerated().find(|(_, file)| *file == name).map(|(id, _)| id);
        known.unwrap_or_else(|| self.program.files.push(name.to_owned()))
    }
    pub(super) fn location(&mut self, place: &SitePosition) -> Option<Location> {
        match place {
            SitePosition::At { file, line, column } => {
                Some(Location { file: self.file_id(file), line: *line, column: *column })
            }
            SitePosition::None | SitePosition::Reference | SitePosition::Unknown => None,
        }
    }
    pub(super) fn mention(&mut self, (line, column): (u32, u32), id: Option<u32>, site: Option<Site>) -> SiteId {
        self.mentions.push(Mention { line, column, id, site });
        SiteId((self.mentions.len() - 1) as u32)
    }

    /// The site after a statement, as an index of its mention; `visible` statements get one in any case.
    pub(super) fn site_of_statement(
        &mut self,
        function: FunctionId,
        name: &str,
        start: (u32, u32),
        visible: bool,
    ) -> Result<Option<SiteId>, ParseError> {
        if !matches!(self.peek(), Token::Site(..)) {
            return Ok(visible.then(|| {
                let file = self.file.to_owned();
                let location = Location { file: self.file_id(&file), line: start.0, column: start.1 };
                let source_function = name.to_owned();
                let (location, inlined_at) = (Some(location), Vec::new());
                let (expression, allocates, lvalue, source) = (None, None, None, None);
                let site =
                    Site { function, source_function, location, inlined_at, expression, allocates, lvalue, source };
                self.mention(start, None, Some(site))
            }));
        }
        self.site(function, name)
    }

    pub(super) fn site(&mut self, function: FunctionId, name: &str) -> Result<Option<SiteId>, ParseError> {
        let at = self.place();
        let Token::Site(place, id) = self.peek().clone() else {
            return Err(self.expected("a site", "as in `!a.c:12:5`"));
        };
        self.at += 1;
        match place {
            SitePosition::None => return Ok(None),
            SitePosition::Reference => return Ok(Some(self.mention(at, id, None))),
            SitePosition::Unknown | SitePosition::At { .. } => {}
        }
        let location = self.location(&place);
        let expression = self.try_quoted();
        let allocates = self.optional_ty()?;
        let lvalue = self.lvalue()?;
        let source = if self.eat_word("copying") { self.lvalue()? } else { None };
        let source_function =
            if self.eat_word("in") { self.quoted("the inlined function's name")? } else { name.to_owned() };
        let mut inlined_at = Vec::new();
        while self.eat_word("from") {
            let function = self.quoted("the calling function's name")?;
            let Token::Site(place, _) = self.next() else {
                return Err(self.expected("the place of the call", "as in `from \"f\" !a.c:12:5`"));
            };
            inlined_at.push(Frame { function, location: self.location(&place) });
        }
        let site = Site { function, source_function, location, inlined_at, expression, allocates, lvalue, source };
        Ok(Some(self.mention(at, id, Some(site))))
    }

    /// Gives all sites their ids and puts those into the statements.
    pub(super) fn number_sites(&mut self) -> Result<(), ParseError> {
        let described: Vec<&Mention> = self.mentions.iter().filter(|m| m.site.is_some()).collect();
        let fixed: Vec<Option<u32>> = described.iter().map(|m| m.id).collect();
        let ids = assign(&fixed)
            .map_err(|i| refused(described[i].line, described[i].column, described[i].id, described.len()))?;
        let mut next = ids.iter();
        let mut sites = vec![None; ids.len()];
        let mut id_of_mention = Vec::new();
        for mention in &self.mentions {
            let id = match &mention.site {
                Some(site) => {
                    let id = next.next().copied().unwrap_or_default();
                    sites[id as usize] = Some(site.clone());
                    id
                }
                None => mention.id.filter(|id| (*id as usize) < ids.len()).ok_or_else(|| ParseError {
                    line: mention.line,
                    column: mention.column,
                    message: "no site has this number".to_owned(),
                    help: Some("describe it at a statement, as in `!a.c:12:5#7`, or with `site`".to_owned()),
                })?,
            };
            id_of_mention.push(SiteId(id));
        }
        self.program.sites = sites.into_iter().flatten().collect();
        for block in self.program.functions.iter_mut().flat_map(|f| f.blocks.iter_mut()) {
            for statement in &mut block.statements {
                statement.site = statement.site.map(|mention| id_of_mention[mention.0 as usize]);
            }
        }
        Ok(())
    }
}
