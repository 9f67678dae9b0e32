//! A Chromium that tests drive: headless, spoken to by the DevTools protocol over two pipes.
//!
//! Chromium reads commands from its file descriptor 3 and answers on 4, each a JSON text with a
//! zero byte behind it (`--remote-debugging-pipe`). A shell opens two named pipes at these numbers,
//! so no library is needed and no port is open.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The longest that anything may take, on a machine with other things to do.
const PATIENCE: Duration = Duration::from_secs(90);

/// The browser.
pub(crate) struct Chromium {
    child: Child,
    to: File,
    from: Receiver<Value>,
    last: u64,
    /// Its profile and pipes.
    _home: tempfile::TempDir,
}

/// What happened in a tab since it was opened.
#[derive(Default)]
pub(crate) struct Heard {
    /// Uncaught exceptions, errors and warnings of the console.
    pub(crate) errors: Vec<String>,
    /// Addresses that were asked for.
    pub(crate) requests: Vec<String>,
    loaded: bool,
}

/// One page in the browser.
pub(crate) struct Tab<'a> {
    browser: &'a mut Chromium,
    target: String,
    session: String,
    scripts: bool,
    pub(crate) heard: Heard,
}

/// Where a Chromium is: named by `RELSCALE_CHROMIUM`, or on the PATH.
pub(crate) fn find() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("RELSCALE_CHROMIUM") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    ["chromium", "chromium-browser", "google-chrome", "chrome"]
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|file| file.is_file())
}

impl Chromium {
    /// Starts the program at `path`.
    pub(crate) fn start(path: &Path) -> Self {
        let home = tempfile::tempdir().unwrap();
        let pipe = |name: &str| home.path().join(name);
        let made = Command::new("mkfifo").args([pipe("in"), pipe("out")]).status().unwrap();
        assert!(made.success(), "mkfifo");
        let child = Command::new("sh")
            .args(["-c", r#"exec "$@" 3<"$0/in" 4>"$0/out""#])
            .arg(home.path())
            .arg(path)
            // Tests open nothing but the page; inside containers Chromium's own walls cannot be
            // built.
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
            .args([
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
            ])
            .args([
                "--disable-sync",
                "--disable-quic",
                "--hide-scrollbars",
                "--remote-debugging-pipe",
            ])
            // No name has an address: what is asked for outside fails, and is heard.
            .arg("--host-resolver-rules=MAP * ~NOTFOUND")
            .arg(format!("--user-data-dir={}", pipe("profile").display()))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // In the shell's order: each of the two waits for the other side.
        let to = OpenOptions::new().write(true).open(pipe("in")).unwrap();
        let answers = BufReader::new(File::open(pipe("out")).unwrap());
        let (send, from) = channel();
        std::thread::spawn(move || {
            for message in answers.split(0) {
                let Ok(message) = message else { return };
                let Ok(value) = serde_json::from_slice(&message) else { return };
                if send.send(value).is_err() {
                    return;
                }
            }
        });
        Self { child, to, from, last: 0, _home: home }
    }

    /// Opens an empty tab.
    pub(crate) fn tab(&mut self) -> Tab<'_> {
        let mut unheard = Heard::default();
        let target =
            self.ask(None, "Target.createTarget", json!({"url": "about:blank"}), &mut unheard);
        let target = target["targetId"].as_str().unwrap().to_owned();
        let attach = json!({"targetId": target, "flatten": true});
        let attached = self.ask(None, "Target.attachToTarget", attach, &mut unheard);
        let session = attached["sessionId"].as_str().unwrap().to_owned();
        let mut tab =
            Tab { browser: self, target, session, scripts: true, heard: Heard::default() };
        for domain in ["Page", "Runtime", "Log", "Network", "Accessibility"] {
            tab.ask(&format!("{domain}.enable"), json!({}));
        }
        tab
    }

    /// Sends a command and waits for its answer; what happens meanwhile is heard.
    fn ask(
        &mut self,
        session: Option<&str>,
        method: &str,
        parameters: Value,
        heard: &mut Heard,
    ) -> Value {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": parameters});
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        self.to.write_all(format!("{message}\0").as_bytes()).unwrap();
        self.to.flush().unwrap();
        let deadline = Instant::now() + PATIENCE;
        loop {
            let mut answer = self.next(deadline, method);
            if answer["id"] == self.last {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].take();
            }
            heard.on_event(&answer);
        }
    }

    fn next(&mut self, deadline: Instant, during: &str) -> Value {
        let patience = deadline.saturating_duration_since(Instant::now());
        match self.from.recv_timeout(patience) {
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout) => panic!("Chromium does not answer during {during}"),
            Err(RecvTimeoutError::Disconnected) => panic!("Chromium ended during {during}"),
        }
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Heard {
    fn on_event(&mut self, message: &Value) {
        let parameters = &message["params"];
        match message["method"].as_str().unwrap_or_default() {
            "Page.loadEventFired" => self.loaded = true,
            "Network.requestWillBeSent" => {
                self.requests
                    .push(parameters["request"]["url"].as_str().unwrap_or_default().to_owned());
            }
            "Runtime.exceptionThrown" => {
                self.errors.push(parameters["exceptionDetails"].to_string())
            }
            "Runtime.consoleAPICalled" if parameters["type"] != "log" => {
                self.errors.push(parameters.to_string());
            }
            "Log.entryAdded" => self.errors.push(parameters["entry"].to_string()),
            _ => {}
        }
    }
}

impl Tab<'_> {
    /// Sends a command of the protocol.
    pub(crate) fn ask(&mut self, method: &str, parameters: Value) -> Value {
        self.browser.ask(Some(&self.session), method, parameters, &mut self.heard)
    }

    /// A window of this width, in this scheme of colours.
    pub(crate) fn looks(&mut self, width: u32, scheme: &str) {
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false}),
        );
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.ask("Emulation.setEmulatedMedia", json!({"features": features}));
    }

    /// Opens a file and waits until it is there.
    pub(crate) fn open(&mut self, page: &Path) {
        self.heard = Heard::default();
        self.ask("Page.navigate", json!({"url": format!("file://{}", page.display())}));
        let deadline = Instant::now() + PATIENCE;
        while !self.heard.loaded {
            let message = self.browser.next(deadline, "loading");
            self.heard.on_event(&message);
        }
        self.settle();
    }

    /// Pages opened from here on have no scripts.
    pub(crate) fn without_scripts(&mut self) {
        self.scripts = false;
        self.ask("Emulation.setScriptExecutionDisabled", json!({"value": true}));
    }

    /// Waits until all that follows from an event is drawn.
    pub(crate) fn settle(&mut self) {
        if !self.scripts {
            // Nothing follows, and no timer ends.
            return;
        }
        self.evaluate("new Promise((done) => setTimeout(() => setTimeout(done, 0), 0))");
    }

    /// The value of an expression in the page.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let mut answer = self.ask(
            "Runtime.evaluate",
            json!({"expression": expression, "returnByValue": true, "awaitPromise": true}),
        );
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].take()
    }

    /// The value of an expression that is a text.
    pub(crate) fn text(&mut self, expression: &str) -> String {
        match self.evaluate(expression) {
            Value::String(text) => text,
            other => panic!("{expression} is {other}, no text"),
        }
    }

    /// Presses a key as a hand would.
    pub(crate) fn key(&mut self, key: &str) {
        let number = match key {
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            "End" => 35,
            "Home" => 36,
            "Enter" => 13,
            " " => 32,
            other => panic!("no such key: {other}"),
        };
        let text = match key {
            "Enter" => "\r",
            " " => " ",
            _ => "",
        };
        for kind in ["keyDown", "keyUp"] {
            let mut event =
                json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": number});
            if kind == "keyDown" && !text.is_empty() {
                event["text"] = text.into();
            }
            self.ask("Input.dispatchKeyEvent", event);
        }
        self.settle();
    }

    /// Moves the pointer over the middle of an element.
    pub(crate) fn point_at(&mut self, selector: &str) {
        let place = self.evaluate(&format!(
            "(() => {{ const it = document.querySelector({selector:?}); it.scrollIntoView({{block: 'center'}}); \
             const box = it.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        ));
        self.ask(
            "Input.dispatchMouseEvent",
            json!({"type": "mouseMoved", "x": place[0], "y": place[1]}),
        );
        self.settle();
    }

    /// Clicks on the middle of an element.
    pub(crate) fn click(&mut self, selector: &str) {
        let place = self.evaluate(&format!(
            "(() => {{ const it = document.querySelector({selector:?}); it.scrollIntoView({{block: 'center'}}); \
             const box = it.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1});
            self.ask("Input.dispatchMouseEvent", event);
        }
        self.settle();
    }
}

impl Drop for Tab<'_> {
    fn drop(&mut self) {
        // A test that fails for want of an answer must not wait for another one.
        if !std::thread::panicking() {
            let close = json!({"targetId": self.target});
            self.browser.ask(None, "Target.closeTarget", close, &mut Heard::default());
        }
    }
}
