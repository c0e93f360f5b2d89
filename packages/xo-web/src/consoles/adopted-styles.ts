/**
 * Does something that makes `<style>` elements, such as opening a terminal of
 * xterm.js 6: their text, whenever it comes, goes into style sheets that are
 * adopted. A content policy without 'unsafe-inline' allows that, as it is done
 * by a script of ours, and refuses the elements.
 */
export function withAdoptedStyles<T>(own: Document, run: () => T): T {
  const create = own.createElement.bind(own);
  const value = (name: string) =>
    name === "style" ? createStyle(own, create("template")) : create(name);
  Object.defineProperty(own, "createElement", { value, configurable: true });
  try {
    return run();
  } finally {
    // What the prototype has is there again.
    Reflect.deleteProperty(own, "createElement");
  }
}

/** Looks like a `<style>` to who writes to it and takes it away; is none. */
function createStyle(own: Document, element: HTMLElement): HTMLElement {
  const sheet = new CSSStyleSheet();
  own.adoptedStyleSheets.push(sheet);
  const remove = element.remove.bind(element);
  return Object.defineProperties(element, {
    textContent: {
      set: (css: string) => {
        sheet.replaceSync(css);
      },
    },
    remove: {
      value: () => {
        const { adoptedStyleSheets } = own;
        const at = adoptedStyleSheets.indexOf(sheet);
        if (at >= 0) adoptedStyleSheets.splice(at, 1);
        remove();
      },
    },
  });
}
