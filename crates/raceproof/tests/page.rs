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
    assert!(last.as_str().unwrap().contains("thread 0.2 writes `counter`"), "{last}");
    let marked = "document.querySelectorAll('#source .row.mark').length";
    assert_eq!(browser.value(marked), 2, "both lines are marked");
    assert_eq!(browser.value("document.querySelectorAll('#timeline .ring').length"), 2);
    assert!(browser.value("document.querySelectorAll('#timeline rect.lock').length").as_u64() > Some(0));
    browser.press("ArrowLeft");
    assert!(browser.value(step).as_str().unwrap().contains("thread 0.1 reads `counter`"));
    browser.press("ArrowRight");
    assert_eq!(browser.value(step), last);
    browser.press("Home");
    assert!(browser.value(step).as_str().unwrap().starts_with("step 0: thread 0 starts"));
    browser.press("ArrowDown");
    assert_eq!(browser.value("document.querySelector('#pairs tr[aria-selected=true]').dataset.id"), "P2");
    browser.press("/");
    assert_eq!(browser.value("document.activeElement.id"), "text");

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
        for width in [1400, 420] {
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

/// Five thousand pairs: all can be found, and the table is filled as one goes.
#[test]
fn a_page_with_five_thousand_pairs() {
    let (folder, _, mut document) = page();
    let template = document["pairs"].as_array().unwrap().last().unwrap().clone();
    let pairs: Vec<Value> = (1..=5000)
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
    assert_eq!(browser.value("document.getElementById('shown').textContent"), "5000 of 5000");
    assert_eq!(browser.value(ROWS), 200);
    browser.value("document.getElementById('more').click()");
    assert_eq!(browser.value(ROWS), 400);
    filter(&mut browser, "variable_4321");
    assert_eq!(browser.value(ROWS), 1);
    assert_eq!(browser.value("document.querySelector('#pairs tbody code').textContent"), "variable_4321 </script><b>");
    assert_quiet(&browser);
}
