/**
 * Runs code that creates `<style>` elements, such as opening a terminal of
 * xterm.js 6: their text is redirected into adopted style sheets.
 * A content policy without 'unsafe-inline' permits those,
 * but not the elements.
 */
export function withAdoptedStyles<T>(own: Document, run: () => T): T {
  const create = own.createElement.bind(own);
  const value = (name: string) =>
    name === "style" ? createStyle(own, create("template")) : create(name);
  Object.defineProperty(own, "createElement", { value, configurable: true });
  try {
    return run();
  } finally {
    // Restores the method of the prototype.
    Reflect.deleteProperty(own, "createElement");
  }
}

/** A stand-in for a `<style>` element that can be written to and removed. */
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
