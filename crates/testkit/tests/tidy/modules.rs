//! Which file of a crate uses which, read from the code alone: `use`, and paths that are written
//! out.
//!
//! A name that a door passes on (`pub use`) stands for the file that defines it, so that a door is
//! no short cut between all that is behind it. What a door uses of its own folder is left out: a
//! file may use its door and the door its members. Tests are left out too.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A word, `::` or a mark of code, without comments and without what stands in quotes.
fn tokens(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(&letter) = letters.get(at) {
        let next = letters.get(at + 1).copied().unwrap_or(' ');
        if letter == '/' && next == '/' {
            while letters.get(at).is_some_and(|letter| *letter != '\n') {
                at += 1;
            }
        } else if letter == '"' {
            at += 1;
            while letters.get(at).is_some_and(|letter| *letter != '"') {
                at += if letters[at] == '\\' { 2 } else { 1 };
            }
            at += 1;
        } else if letter == 'r' && next == '#' && letters.get(at + 2) == Some(&'"') {
            at += 3;
            while at < letters.len() && !(letters[at] == '"' && letters.get(at + 1) == Some(&'#')) {
                at += 1;
            }
            at += 2;
        } else if letter == '\'' && (next == '\\' || letters.get(at + 2) == Some(&'\'')) {
            at += if next == '\\' { 3 } else { 2 };
            while letters.get(at).is_some_and(|letter| *letter != '\'') {
                at += 1;
            }
            at += 1;
        } else if word(letter) {
            let end = (at..letters.len()).find(|end| !word(letters[*end])).unwrap_or(letters.len());
            found.push(letters[at..end].iter().collect());
            at = end;
        } else if letter == ':' && next == ':' {
            found.push("::".to_owned());
            at += 2;
        } else {
            if !letter.is_whitespace() {
                found.push(letter.to_string());
            }
            at += 1;
        }
    }
    found
}

/// The files of one crate as modules, and what each of them names.
pub(super) struct Modules {
    /// The tokens of each module, by its path: `["optimise", "newton"]`; of the root: `[]`.
    code: BTreeMap<Vec<String>, Vec<String>>,
    /// The names that each module brings in by `use`, with the paths that they stand for.
    names: BTreeMap<Vec<String>, BTreeMap<String, Vec<String>>>,
}

impl Modules {
    pub(super) fn read(sources: &BTreeMap<String, String>, krate: &str) -> Self {
        let prefix = format!("crates/{krate}/src/");
        let mut code_of = BTreeMap::new();
        // Files that a door declares for tests alone.
        let of_tests: BTreeSet<String> = sources
            .iter()
            .filter(|(name, _)| name.starts_with(&prefix))
            .flat_map(|(name, text)| {
                let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
                let (mut lines, mut found) = (text.lines().peekable(), Vec::new());
                while let Some(line) = lines.next() {
                    let module = lines.peek().and_then(|next| next.strip_prefix("mod "));
                    if let (true, Some(module)) = (line == "#[cfg(test)]", module) {
                        found.push(format!("{folder}/{}.rs", module.trim_end_matches(';')));
                    }
                }
                found
            })
            .collect();
        for (name, text) in sources {
            if of_tests.contains(name) {
                continue;
            }
            let Some(inside) = name.strip_prefix(&prefix).and_then(|name| name.strip_suffix(".rs"))
            else {
                continue;
            };
            let mut path: Vec<String> = inside.split('/').map(str::to_owned).collect();
            if path.iter().any(|part| part == "tests" || part == "bin") {
                continue;
            }
            if path.last().is_some_and(|last| {
                last == "mod" || (path.len() == 1 && (last == "lib" || last == "main"))
            }) {
                path.pop();
            }
            code_of.insert(path, tokens(&super::code(text)));
        }
        let mut modules = Self { code: code_of, names: BTreeMap::new() };
        for (path, code) in &modules.code {
            let mut names = BTreeMap::new();
            for at in (0..code.len()).filter(|at| code[*at] == "use") {
                let end = (at..code.len()).find(|end| code[*end] == ";").unwrap_or(code.len());
                tree(&code[at + 1..end], &mut Vec::new(), &mut names);
            }
            modules.names.insert(path.clone(), names);
        }
        modules
    }

    /// The module that defines what a path written in `from` names; `None` for what is not of this
    /// crate.
    fn home(&self, from: &[String], written: &[String], left: usize) -> Option<Vec<String>> {
        let (mut at, mut rest) = (from.to_vec(), written);
        match rest.first()?.as_str() {
            "crate" => (at, rest) = (Vec::new(), &rest[1..]),
            "self" => rest = &rest[1..],
            "super" => {
                while let Some(("super", after)) =
                    rest.split_first().map(|(first, after)| (first.as_str(), after))
                {
                    at.pop();
                    rest = after;
                }
            }
            first => {
                let child: Vec<String> = at.iter().chain([&first.to_owned()]).cloned().collect();
                let known = self.names.get(&at)?.get(first);
                if !self.code.contains_key(&child) {
                    let whole: Vec<String> = known?.iter().chain(&rest[1..]).cloned().collect();
                    return if left == 0 { None } else { self.home(&at, &whole, left - 1) };
                }
            }
        }
        while let Some((name, after)) = rest.split_first() {
            let child: Vec<String> = at.iter().chain([name]).cloned().collect();
            if self.code.contains_key(&child) {
                (at, rest) = (child, after);
            } else if let Some(path) =
                self.names.get(&at).and_then(|names| names.get(name)).filter(|_| left > 0)
            {
                // A door passes on what another file defines.
                let whole: Vec<String> = path.iter().chain(after).cloned().collect();
                return self.home(&at, &whole, left - 1);
            } else {
                break;
            }
        }
        self.code.contains_key(&at).then_some(at)
    }

    /// What each module uses, without itself and without what a door has of its own folder.
    pub(super) fn uses(&self) -> BTreeMap<Vec<String>, BTreeSet<Vec<String>>> {
        let uses_of = |path: &Vec<String>| {
            let code = &self.code[path];
            let mut found = BTreeSet::new();
            let mut at = 0;
            while at < code.len() {
                let mut end = at + 1;
                let word = |at: usize| {
                    code.get(at).is_some_and(|mark| mark.starts_with(char::is_alphanumeric))
                };
                while code.get(end).is_some_and(|mark| mark == "::") && word(end + 1) {
                    end += 2;
                }
                let written: Vec<String> = code[at..end].iter().step_by(2).cloned().collect();
                let plain = written.len() == 1 && !self.names[path].contains_key(&written[0]);
                if !plain && let Some(home) = self.home(path, &written, 8) {
                    found.insert(home);
                }
                at = end;
            }
            found.retain(|home| !home.starts_with(path));
            found
        };
        self.code.keys().map(|path| (path.clone(), uses_of(path))).collect()
    }
}

/// The names of a tree of `use`.
fn tree(code: &[String], before: &mut Vec<String>, names: &mut BTreeMap<String, Vec<String>>) {
    let known = before.len();
    let mut at = 0;
    while at < code.len() {
        match code[at].as_str() {
            "::" => {}
            "{" => {
                let mut depth = 0;
                let close = (at..code.len())
                    .find(|end| {
                        depth += i32::from(code[*end] == "{") - i32::from(code[*end] == "}");
                        depth == 0
                    })
                    .unwrap_or(code.len());
                let mut from = at + 1;
                let mut depth = 0;
                for end in at + 1..=close {
                    let mark = code.get(end).map_or("}", String::as_str);
                    if (mark == "," && depth == 0) || end == close {
                        tree(&code[from..end], before, names);
                        from = end + 1;
                    }
                    depth += i32::from(mark == "{") - i32::from(mark == "}");
                }
                before.truncate(known);
                return;
            }
            "as" => {
                if let Some(name) = code.get(at + 1) {
                    names.insert(name.clone(), before.clone());
                }
                before.truncate(known);
                return;
            }
            "self" if !before.is_empty() => {}
            word => before.push(word.to_owned()),
        }
        at += 1;
    }
    if let Some(last) =
        before.last().filter(|last| *last != "*" && before.len() > known || code == ["self"])
    {
        names.insert(last.clone(), before.clone());
    }
    before.truncate(known);
}

/// Rings of modules that use one another, from the name that comes first: the shortest through each
/// arrow, without those that share an arrow with a shorter one.
pub(super) fn circles(
    uses: &BTreeMap<Vec<String>, BTreeSet<Vec<String>>>,
) -> Vec<Vec<Vec<String>>> {
    // The shortest way from one module to another.
    let way = |from: &Vec<String>, to: &Vec<String>| -> Option<Vec<Vec<String>>> {
        let mut came = BTreeMap::from([(from.clone(), None)]);
        let mut open = VecDeque::from([from.clone()]);
        while let Some(at) = open.pop_front() {
            for next in &uses[&at] {
                if next == to {
                    let mut back = vec![at.clone()];
                    while let Some(before) = came[&back[back.len() - 1]].clone() {
                        back.push(before);
                    }
                    back.reverse();
                    return Some(back);
                }
                if !came.contains_key(next) {
                    came.insert(next.clone(), Some(at.clone()));
                    open.push_back(next.clone());
                }
            }
        }
        None
    };
    let mut found: BTreeSet<Vec<Vec<String>>> = BTreeSet::new();
    for (from, targets) in uses {
        for to in targets {
            // The shortest ring through this arrow, turned so that its first member leads.
            if let Some(mut ring) = way(to, from) {
                ring.insert(0, from.clone());
                let first = (0..ring.len()).min_by_key(|at| &ring[*at]).unwrap_or(0);
                ring.rotate_left(first);
                found.insert(ring);
            }
        }
    }
    let mut rings: Vec<Vec<Vec<String>>> = found.into_iter().collect();
    rings.sort_by_key(Vec::len);
    let mut told = BTreeSet::new();
    rings.retain(|ring| {
        let arrows: Vec<_> = (0..ring.len())
            .map(|at| (ring[at].clone(), ring[(at + 1) % ring.len()].clone()))
            .collect();
        let new = arrows.iter().all(|arrow| !told.contains(arrow));
        told.extend(arrows.into_iter().filter(|_| new));
        new
    });
    rings
}

/// The same between rooms: of an arrow between two files, the members of the folder that both are
/// below.
pub(super) fn rooms(
    uses: &BTreeMap<Vec<String>, BTreeSet<Vec<String>>>,
) -> BTreeMap<Vec<String>, BTreeSet<Vec<String>>> {
    let mut found: BTreeMap<Vec<String>, BTreeSet<Vec<String>>> = BTreeMap::new();
    for (from, to) in
        uses.iter().flat_map(|(from, targets)| targets.iter().map(move |to| (from, to)))
    {
        let shared = from.iter().zip(to).take_while(|(one, other)| one == other).count();
        if shared < from.len().min(to.len()) {
            let (from, to) = (from[..=shared].to_vec(), to[..=shared].to_vec());
            found.entry(to.clone()).or_default();
            found.entry(from).or_default().insert(to);
        }
    }
    found
}

#[test]
fn a_circle_is_found_through_doors_and_names() {
    let of = |files: &[(&str, &str)]| -> Vec<String> {
        let sources = files
            .iter()
            .map(|(name, text)| (format!("crates/x/src/{name}.rs"), (*text).to_owned()));
        let files = Modules::read(&sources.collect(), "x").uses();
        let all: BTreeSet<Vec<Vec<String>>> =
            circles(&files).into_iter().chain(circles(&rooms(&files))).collect();
        all.into_iter()
            .map(|ring| ring.iter().map(|path| path.join("/")).collect::<Vec<_>>().join(" "))
            .collect()
    };
    let lib = ("lib", "mod a; mod b; mod room; pub use room::Thing;");
    let door = (
        "room/mod",
        "//! Uses crate::a.\nmod thing; pub(crate) use thing::{Other as Name, Thing};",
    );
    let a = ("a", "use crate::b as other; fn f() { other::g(\"crate::a\"); }");
    let found: Vec<String> =
        of(&[lib, door, a, ("b", "fn g(_: crate::Thing) {}"), ("room/thing", "use super::Thing;")]);
    assert_eq!(found, Vec::<String>::new());
    let b = ("b", "fn g() -> crate::room::Name {}");
    let longer = ("room/thing", "use crate::{a::{self, f}}; fn h() { f('\"', a::g) }");
    assert_eq!(of(&[lib, door, a, b, longer]), ["a b room", "a b room/thing"]);
    // The shorter ring speaks for the longer one that goes with it.
    let shorter = ("room/thing", "use crate::{a::f, b}; fn h() { b::g('\"', f) }");
    assert_eq!(of(&[lib, door, a, b, shorter]), ["b room", "b room/thing"]);
}
