package webtest

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Click presses what is called wanted, by its whole visible text, its label or
// a CSS selector, with a real mouse, as soon as it can be reached.
func (p *Page) Click(wanted string) {
	p.t.Helper()
	at := p.reach("click "+wanted, wanted)
	p.run("click "+wanted, chromedp.MouseClickXY(at.X, at.Y))
}

type point struct{ X, Y float64 }

func (p *Page) reach(what, wanted string) (at point) {
	p.t.Helper()
	p.await(what, fmt.Sprintf("reach(%s)", js(wanted)), &at)
	return at
}

// Type writes text into a field in place of what it holds, key by key.
func (p *Page) Type(css, text string) {
	p.t.Helper()
	p.Click(css)
	p.Eval("document.activeElement.select()", nil)
	if text == "" {
		text = kb.Delete
	}
	p.run("type into "+css, chromedp.KeyEvent(text))
}

// Choose picks an option of a select by its text.
func (p *Page) Choose(css, option string) {
	p.t.Helper()
	p.await("choose "+option, fmt.Sprintf(`((list, wanted) => {
		const option = [...list.options].find(o => words(o.text) === wanted);
		if (!option || option.disabled) return {why: "it offers " + [...list.options].map(o => o.text).join(", ")};
		list.value = option.value;
		list.dispatchEvent(new Event("input", {bubbles: true}));
		list.dispatchEvent(new Event("change", {bubbles: true}));
		return {found: true};
	})(document.querySelector(%s), %s)`, js(css), js(option)), nil)
}

var keys = map[string]string{
	"Enter": kb.Enter, "Escape": kb.Escape, "Tab": kb.Tab, "Space": " ", "Backspace": kb.Backspace, "Delete": kb.Delete,
	"ArrowUp": kb.ArrowUp, "ArrowDown": kb.ArrowDown, "ArrowLeft": kb.ArrowLeft, "ArrowRight": kb.ArrowRight,
	"Home": kb.Home, "End": kb.End, "PageUp": kb.PageUp, "PageDown": kb.PageDown,
}

var modifiers = map[string]chromedp.Modifier{
	"Shift": chromedp.ModifierShift, "Control": chromedp.ModifierCtrl, "Alt": chromedp.ModifierAlt, "Meta": chromedp.ModifierMeta,
}

// Press presses keys, one after another: "g", "?", "Enter", "Shift+Tab".
func (p *Page) Press(names ...string) {
	p.t.Helper()
	for _, name := range names {
		parts := strings.Split(name, "+")
		key := parts[len(parts)-1]
		if known, ok := keys[key]; ok {
			key = known
		}
		if len([]rune(key)) != 1 {
			p.t.Fatalf("webtest knows no key %q", name)
		}
		var held []chromedp.Modifier
		for _, modifier := range parts[:len(parts)-1] {
			known, ok := modifiers[modifier]
			if !ok {
				p.t.Fatalf("webtest knows no key %q", name)
			}
			held = append(held, known)
		}
		p.run("press "+name, chromedp.KeyEvent(key, chromedp.KeyModifiers(held...)))
	}
}

// SetFiles chooses files in a file input, as its dialog would.
func (p *Page) SetFiles(css string, paths ...string) {
	p.t.Helper()
	p.await("choose files", fmt.Sprintf(
		`document.querySelector(%s) ? {found: true} : {why: "there is no such input"}`, js(css)), nil)
	field := call(p, "choose files", runtime.Evaluate, runtime.EvaluateParams{
		Expression: fmt.Sprintf("document.querySelector(%s)", js(css)),
	})
	call(p, "choose files", dom.SetFileInputFiles, dom.SetFileInputFilesParams{
		Files: p.absolute(paths), ObjectID: field.Result.ObjectID,
	})
}

// Drop drags files or folders from the desktop onto an element and lets go.
func (p *Page) Drop(css string, paths ...string) {
	p.t.Helper()
	at := p.reach("drop files onto "+css, css)
	dragged := &input.DragData{Items: []*input.DragDataItem{}, Files: p.absolute(paths), DragOperationsMask: 1}
	for _, step := range []input.DispatchDragEventType{"dragEnter", "dragOver", "drop"} {
		call(p, "drop files onto "+css, input.DispatchDragEvent, input.DispatchDragEventParams{
			Type: step, X: at.X, Y: at.Y, Data: dragged,
		})
	}
}

func (p *Page) absolute(paths []string) []string {
	p.t.Helper()
	whole := make([]string, len(paths))
	for i, path := range paths {
		abs, err := filepath.Abs(path)
		p.do("find "+path, err)
		whole[i] = abs
	}
	return whole
}
