package webtest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

func TestPage_FailsForWhatThePageComplainsOf(t *testing.T) {
	for name, c := range map[string]struct{ body, script, want string }{
		"nothing":           {"", "", ""},
		"log":               {"", `console.log("all is well")`, ""},
		"error":             {"", `console.error("too bad", 7, new Error("why"))`, "console.error: too bad 7 Error: why"},
		"warning":           {"", `console.warn("beware")`, "console.warning: beware"},
		"exception":         {"", "nothing.there()", "exception: Uncaught ReferenceError: nothing is not defined"},
		"rejection":         {"", `Promise.reject(new Error("no"))`, "exception: Uncaught (in promise) Error: no"},
		"inline script":     {"<script>1</script>", "", "CSP: "},
		"inline handler":    {`<button onclick="go()">Go</button>`, `document.querySelector("button").click()`, "CSP: "},
		"inline style":      {`<p style="color: red">Red</p>`, "", "CSP: "},
		"eval, caught":      {"", `try { eval("1") } catch {}`, "CSP: "},
		"another host":      {"", `await fetch("http://192.0.2.1/").catch(() => 0)`, "192.0.2.1"},
		"picture elsewhere": {`<img src="http://192.0.2.1/a.png" alt="A">`, "", "192.0.2.1"},
		"missing file":      {"", `await fetch("/gone").catch(() => 0)`, "GET http://HOST/gone answered 404"},
		"dead link":         {"", `await fetch("http://127.0.0.1:1/").catch(() => 0)`, "127.0.0.1:1"},
		"dialog":            {"", `alert("Sure?")`, "dialog alert: Sure?"},
	} {
		t.Run(name, func(t *testing.T) {
			address := serve(t, c.body+`<script type="module" src="/page.js"></script>`, map[string]string{
				"/page.js": c.script + `; document.body.append("loaded")`,
			})
			visit := func(tb testing.TB) *Page {
				page := Open(tb, address)
				if name != "exception" {
					page.WaitText("loaded")
				}
				return page
			}
			said := rehearse(t, func(tb testing.TB) { visit(tb) })
			want := strings.ReplaceAll(c.want, "HOST", strings.TrimPrefix(address, "http://"))
			if want == "" && said != "" || !strings.Contains(said, want) {
				t.Errorf("the page should have failed with %q, and did with %q", want, said)
			}
			if announced := rehearse(t, func(tb testing.TB) { visit(tb).Expect("") }); announced != "" {
				t.Errorf("although all was announced, it failed with %q", announced)
			}
		})
	}
}

func TestPage_JudgesWhatCanBeSeen(t *testing.T) {
	pale := map[string]string{"/a.css": "p { color: #999; background: #fff } .wide { width: 2000px } " +
		"@media (prefers-color-scheme: dark) { p { color: #fff; background: #000 } }"}
	link := `<link rel="stylesheet" href="/a.css">`
	for name, c := range map[string]struct {
		body, want string
		judge      func(*Page)
	}{
		"pale":             {link + "<p>Hardly there</p>", "color-contrast at p", (*Page).Axe},
		"pale, in light":   {link + "<p>Hardly there</p>", "", func(p *Page) { p.Colours("dark"); p.Axe() }},
		"button, nameless": {"<button></button>", "button-name at button", (*Page).Axe},
		"sound":            {"<p>Well</p>", "", (*Page).Axe},
		"wide":             {link + `<p class="wide">Far</p>`, "is wider than the window", (*Page).Fits},
		"wide enough":      {link + `<p class="wide">Far</p>`, "", func(p *Page) { p.Resize(2100, 900); p.Fits() }},
		"narrow":           {"<p>Near</p>", "", func(p *Page) { p.Resize(390, 844); p.Fits() }},
	} {
		t.Run(name, func(t *testing.T) {
			address := serve(t, c.body, pale)
			said := rehearse(t, func(tb testing.TB) { c.judge(Open(tb, address)) })
			if c.want == "" && said != "" || !strings.Contains(said, c.want) {
				t.Errorf("it should have failed with %q, and did with %q", c.want, said)
			}
		})
	}
}

func TestPage_IsUsedAsAPersonWould(t *testing.T) {
	address := serve(t, `<form><label for="name">Name</label><input id="name" value="old"><select id="size" aria-label="Size"><option>Small</option><option>Very  large</option></select>
		<input type="file" id="file" aria-label="File" multiple><button id="late" disabled>Send</button></form><div id="zone">Drop here</div><p id="said"></p>
		<script type="module" src="/page.js"></script>`,
		map[string]string{"/page.js": `
		const say = text => { document.querySelector("#said").textContent += text + "; " };
		setTimeout(() => { document.querySelector("#late").disabled = false }, 300);
		document.querySelector("form").addEventListener("submit", e => { e.preventDefault(); say("sent by " + document.querySelector("#name").value) });
		document.querySelector("#size").addEventListener("change", e => say("size " + e.target.value));
		document.querySelector("#file").addEventListener("change", async e => say("file " + await e.target.files[0].text()));
		const zone = document.querySelector("#zone");
		zone.addEventListener("dragover", e => e.preventDefault());
		zone.addEventListener("drop", async e => { e.preventDefault(); for (const f of [...e.dataTransfer.files]) say("dropped " + f.name + " " + await f.text()) });
		document.addEventListener("keydown", e => { if (e.target === document.body) say("key " + (e.shiftKey ? "shift " : "") + e.key) });
		`})
	page := Open(t, address)
	page.Type("#name", "Ada, Łódź")
	page.Click("Send")
	page.WaitText("sent by Ada, Łódź")
	page.Choose("#size", "Very large")
	page.WaitText("size Very large")
	file := filepath.Join(t.TempDir(), "a.txt")
	if err := os.WriteFile(file, []byte("bytes"), 0o600); err != nil {
		t.Fatal(err)
	}
	page.SetFiles("#file", file)
	page.WaitText("file bytes")
	page.Drop("#zone", file)
	page.WaitText("dropped a.txt bytes")
	page.Click("A page")
	page.Press("g", "?", "Enter", "Shift+ArrowDown")
	page.WaitText("key g; key shift ?; key Enter; key shift ArrowDown")
	if n, text := page.Count("option"), page.Text("#zone"); n != 2 || text != "Drop here" {
		t.Errorf("%d options, zone says %q", n, text)
	}
	page.Axe()
}

func TestPage_SaysWhyItCannotClick(t *testing.T) {
	address := serve(t, `<link rel="stylesheet" href="/a.css"><button id="under">Under</button><div class="over"></div>`,
		map[string]string{"/a.css": ".over { position: fixed; inset: 0 }"})
	page := Open(t, address)
	var answer struct{ Why string }
	page.Eval("(() => {"+finding+`; return reach("Under")})()`, &answer)
	if !strings.Contains(answer.Why, `it is covered by <div class="over">`) {
		t.Errorf("it says %q", answer.Why)
	}
}

func TestPage_HasACookieJarOfItsOwnAndSharesItWithItsTabs(t *testing.T) {
	address := serve(t, "", nil)
	first, other := Open(t, address), Open(t, address)
	first.Eval(`document.cookie = "a=1"`, nil)
	tab := first.Tab("/")
	for page, want := range map[*Page]string{tab: "a=1", other: ""} {
		var have string
		if page.Eval("document.cookie", &have); have != want {
			t.Errorf("the cookies are %q, not %q", have, want)
		}
		var seen string
		if page.Eval("document.visibilityState", &seen); seen != "visible" {
			t.Errorf("a tab is %s", seen)
		}
	}
}

func TestPage_TakesWhatIsDownloadedAndCopied(t *testing.T) {
	address := serve(t, `<a href="/film.js" download="a film.mov">Download</a> <button>Copy</button> <script type="module" src="/page.js"></script>`, map[string]string{
		"/film.js": strings.Repeat("film", 100_000),
		"/page.js": `document.querySelector("button").addEventListener("click", async e => { await navigator.clipboard.writeText("job_01"); e.target.textContent = "Copied" })`,
	})
	page := Open(t, address)
	file := page.Download("Download")
	if bytes, err := os.ReadFile(file); err != nil || len(bytes) != 400_000 || filepath.Base(file) != "a film.mov" {
		t.Errorf("%s holds %d bytes: %v", file, len(bytes), err)
	}
	page.Click("Copy")
	page.WaitText("Copied")
	if text := page.Clipboard(); text != "job_01" {
		t.Errorf("the clipboard holds %q", text)
	}
}

func TestPage_GoesOfflineAndComesBack(t *testing.T) {
	page := Open(t, serve(t, "", nil))
	page.Expect("ERR_INTERNET_DISCONNECTED")
	ask := `fetch("/").then(() => "answered", () => "no answer")`
	for _, c := range []struct {
		off  bool
		want string
	}{{true, "no answer"}, {false, "answered"}} {
		page.Offline(c.off)
		var have string
		if page.Eval(ask, &have); have != c.want {
			t.Errorf("offline %v: %s", c.off, have)
		}
		var online bool
		if page.Eval("navigator.onLine", &online); online == c.off {
			t.Errorf("offline %v, and the page is told %v", c.off, online)
		}
	}
}

func TestPage_LivesAtTheTimeItIsTold(t *testing.T) {
	page := Open(t, serve(t, "", nil), At(time.Date(2031, 5, 6, 23, 30, 0, 0, time.UTC)), Zone("Asia/Tokyo"))
	page.Reload()
	var now []string
	page.Eval(`[new Date().toISOString().slice(0, 16), new Date(Date.now()).toLocaleDateString("en-CA"), new Date(0).toISOString()]`, &now)
	if want := []string{"2031-05-06T23:30", "2031-05-07", "1970-01-01T00:00:00.000Z"}; !slices.Equal(now, want) {
		t.Errorf("it is %q there, not %q", now, want)
	}
}

func TestPage_WaitsThroughNavigations(t *testing.T) {
	address := serve(t, `<script type="module" src="/page.js"></script>`, map[string]string{"/page.js": `
		const n = Number(location.search.slice(1));
		if (n < 5) setTimeout(() => { location.search = n + 1 }, 50); else document.body.append("arrived");`})
	page := Open(t, address+"/?0")
	page.WaitText("arrived")
	page.WaitPath("/?5")
	page.Until("document.title == 'A page'")
	page.WaitGone("Nobody")
}

func TestPage_MeasuresItsLoad(t *testing.T) {
	page := Open(t, serve(t, `<link rel="stylesheet" href="/a.css">`, map[string]string{"/a.css": strings.Repeat("p { color: red }\n", 1000)}))
	if bytes := page.Weight(); bytes < 17_000 || bytes > 20_000 {
		t.Errorf("the load weighs %d bytes", bytes)
	}
	if paint := page.FirstPaint(); paint <= 0 || paint > Patience {
		t.Errorf("first paint after %s", paint)
	}
	file := filepath.Join(t.TempDir(), "page.png")
	page.Screenshot(file)
	if picture, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(picture), "\x89PNG") {
		t.Errorf("the picture: %v", err)
	}
}
