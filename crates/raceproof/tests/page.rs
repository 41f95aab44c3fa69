//! The HTML report in a real browser: it opens from a file, filters, steps through a run, complains about nothing and
//! asks the network for nothing.

mod browser;
mod common;

use std::path::PathBuf;

use browser::Browser;
use common::Folder;
use serde_json::{Value, json};

/// A folder with the page of `counter.c`, and the document it was made from.
fn page() -> (Folder, PathBuf, Value) {
    let folder = Folder::new();
    let run = folder.raceproof(&["check", "counter.c", "--html", "report.html", "--json-out", "result.json"]);
    assert_eq!(run.status, 1, "{}", run.stderr);
    let document = std::fs::read_to_string(folder.path().join("result.json")).unwrap();
    let page = folder.path().join("report.html");
    (folder, page, serde_json::from_str(&document).unwrap())
}

const ROWS: &str = "document.querySelectorAll('#pairs tbody tr').length";

fn filter(browser: &mut Browser, text: &str) {
    let text = json!(text);
    let set = format!(
        "(() => {{ const box = document.getElementById('text'); box.value = {text};\
        box.dispatchEvent(new Event('input')); }})()"
    );
    browser.value(&set);
}

fn assert_quiet(browser: &Browser) {
    assert_eq!(browser.complaints, [""; 0]);
    assert_eq!(browser.requests, [""; 0]);
}

#[test]
fn a_page_is_read_with_mouse_and_keys() {
    let (_folder, page, document) = page();
    let pairs = document["pairs"].as_array().unwrap().len();
    let races = document["pairs"].as_array().unwrap().iter().filter(|pair| pair["verdict"] == "race").count();
    let mut browser = Browser::start();
    browser.open(&page);

    assert_eq!(browser.value("document.querySelector('.verdict strong').textContent"), "race");
    assert_eq!(browser.value(ROWS), pairs);
    browser.value("document.querySelector('#verdicts button[data-verdict=race]').click()");
    assert_eq!(browser.value(ROWS), races);
    browser.value("document.querySelector('#verdicts button[data-verdict=race]').click()");
    filter(&mut browser, "CARELESS");
    let careless = |pair: &&Value| pair["accesses"].as_array().unwrap().iter().any(|a| a["function"] == "careless");
    assert_eq!(browser.value(ROWS), document["pairs"].as_array().unwrap().iter().filter(careless).count());
    filter(&mut browser, "no such thing");
    assert_eq!(browser.value(ROWS), 0);
    filter(&mut browser, "");

    // The first race is chosen, at its second access; keys step back and forth.
    let step = "document.getElementById('step').textContent";
    let last = browser.value(step);
    assert!(last.as_str().unwrap().contains("thread 0.2 writes counter: 0 → 10"), "{last}");
    let marked = "document.querySelectorAll('#source .row.mark').length";
    assert_eq!(browser.value(marked), 2, "both lines are marked");
    assert_eq!(browser.value("document.querySelectorAll('#timeline .ring').length"), 2);
    assert!(browser.value("document.querySelectorAll('#timeline rect.lock').length").as_u64() > Some(0));
    browser.press("ArrowLeft");
    assert!(browser.value(step).as_str().unwrap().contains("thread 0.1 reads counter (0)"));
    browser.press("ArrowRight");
    assert_eq!(browser.value(step), last);
    browser.press("Home");
    assert!(browser.value(step).as_str().unwrap().starts_with("step 0: thread 0 starts"));
    browser.press("ArrowDown");
    assert_eq!(browser.value("document.querySelector('#pairs tr[aria-selected=true]').dataset.id"), "P2");
    browser.press("/");
    assert_eq!(browser.value("document.activeElement.id"), "text");

    browser.value("document.querySelectorAll('details').forEach((details) => { details.open = true; })");
    common::wait_until("the overview is filled", || {
        browser.value("document.querySelectorAll('#matrix td').length").as_u64() > Some(0)
    });
    assert!(browser.value("document.querySelectorAll('#threads li').length").as_u64() >= Some(3));
    assert!(browser.value("document.getElementById('matrix').textContent").as_str().unwrap().contains("mutex"));
    assert_quiet(&browser);
}

/// Everything fits in light and dark, wide and narrow: the page itself never scrolls sideways.
#[test]
fn a_page_fits_its_window() {
    let (_folder, page, _) = page();
    let mut browser = Browser::start();
    let mut colours = Vec::new();
    for scheme in ["light", "dark"] {
        for width in [1400, 1000, 500, 420] {
            browser.look(scheme, width, 900);
            browser.open(&page);
            let overflow = browser.value("document.documentElement.scrollWidth - document.documentElement.clientWidth");
            assert_eq!(overflow, 0, "{scheme}, {width} wide");
        }
        colours.push(browser.value("getComputedStyle(document.body).backgroundColor"));
    }
    assert_ne!(colours[0], colours[1]);
    assert_quiet(&browser);
}

/// The source is beside the timeline while one steps, or right below it where there is no room; the line of the step is in view
/// in both cases.
#[test]
fn the_source_is_beside_the_timeline() {
    let (_folder, page, _) = page();
    let mut browser = Browser::start();
    for (width, beside) in [(1400, true), (500, false)] {
        browser.look("light", width, 900);
        browser.open(&page);
        let lefts = "[timeline, source].map((node) => node.getBoundingClientRect().left)";
        let lefts = browser.value(lefts);
        let [timeline, source] = [&lefts[0], &lefts[1]].map(|left| left.as_f64().unwrap());
        assert_eq!(source > timeline + 200.0, beside, "{width} wide: {lefts}");
        for key in ["Home", "ArrowRight", "ArrowRight", "End"] {
            browser.press(key);
            let shown = "(() => { const now = document.querySelector('#source .row.now'); if (!now) return 'none';\
                const [a, b] = [now, source].map((node) => node.getBoundingClientRect());\
                return a.top >= b.top - 1 && a.bottom <= b.bottom + 1; })()";
            let shown = browser.value(shown);
            assert!(shown == true || shown == "none", "{width} wide, {key}");
        }
    }
    assert_quiet(&browser);
}

/// For assistive technology and keys alone: one heading of the first rank, names for regions and controls, rows that take the
/// focus one at a time and lead to what is known of them. Names of files break after slashes.
#[test]
fn a_page_without_eyes_or_mouse() {
    let (folder, _, document) = page();
    let long = document
        .to_string()
        .replace("counter.c", "a/very/long/path/of/folders/that/has/no/other/place/to/break/counter.c");
    std::fs::write(folder.path().join("long.json"), long).unwrap();
    assert_eq!(folder.raceproof(&["report", "long.json", "--html", "-o", "long.html"]).status, 1);
    let mut browser = Browser::start();
    browser.look("light", 500, 900);
    browser.open(&folder.path().join("long.html"));
    assert_eq!(browser.value("document.querySelectorAll('h1').length"), 1);
    let unnamed = "[...document.querySelectorAll('section, button, input, select, table[role], [role=group], svg[role=img], #shown')]\
        .filter((node) => !node.getAttribute('aria-label') && !node.textContent.trim()).map((node) => node.outerHTML.slice(0, 80))";
    assert_eq!(browser.value(unnamed), json!([]));
    assert_eq!(browser.value("document.querySelectorAll('#pairs tbody tr[tabindex=\"0\"]').length"), 1);
    browser.value("document.querySelector('#pairs tbody tr[tabindex=\"0\"]').focus()");
    browser.press("ArrowDown");
    assert_eq!(browser.value("document.activeElement.dataset.id"), "P2");
    assert_eq!(browser.value("document.activeElement.getAttribute('aria-selected')"), "true");
    browser.press("Enter");
    let heading = browser.value("`${document.activeElement.tagName} ${document.activeElement.textContent}`");
    assert!(heading.as_str().unwrap().starts_with("H2 P2: data race on"), "{heading}");
    assert!(browser.value("document.querySelectorAll('#pairs code wbr').length").as_u64() > Some(10));
    assert_eq!(browser.value("document.documentElement.scrollWidth - document.documentElement.clientWidth"), 0);
    let cut =
        "[...document.querySelectorAll('#pairs td')].filter((cell) => cell.scrollWidth > cell.clientWidth + 1).length";
    assert_eq!(browser.value(cut), 0);
    assert_quiet(&browser);
}

/// Most elements that a page makes when it is opened, however many pairs it has: what a browser lays out in a blink.
const MOST_ELEMENTS: u64 = 4_000;

/// Ten thousand pairs: all can be found, and the table is filled as one goes.
#[test]
fn a_page_with_ten_thousand_pairs() {
    let (folder, _, mut document) = page();
    let template = document["pairs"].as_array().unwrap().last().unwrap().clone();
    let pairs: Vec<Value> = (1..=10_000)
        .map(|n| {
            let mut pair = template.clone();
            pair["id"] = json!(format!("P{n}"));
            pair["rank"] = json!(n);
            pair["variable"] = json!(format!("variable_{n} </script><b>"));
            pair
        })
        .collect();
    document["pairs"] = json!(pairs);
    document["verdict"] = json!("safe");
    std::fs::write(folder.path().join("many.json"), document.to_string()).unwrap();
    let run = folder.raceproof(&["report", "many.json", "--html", "-o", "many.html"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let mut browser = Browser::start();
    browser.open(&folder.path().join("many.html"));
    assert_eq!(browser.value("document.getElementById('shown').textContent"), "10000 of 10000");
    let elements = browser.value("document.querySelectorAll('*').length").as_u64().unwrap();
    assert!(elements < MOST_ELEMENTS, "{elements}");
    assert_eq!(browser.value(ROWS), 100);
    browser.value("document.getElementById('more').click()");
    assert_eq!(browser.value(ROWS), 200);
    filter(&mut browser, "variable_4321");
    assert_eq!(browser.value(ROWS), 1);
    assert_eq!(browser.value("document.querySelector('#pairs tbody code').textContent"), "variable_4321 </script><b>");
    assert_quiet(&browser);
}
