/* global localStorage, document */
// Runs before the first paint, so that the page is not shown in another theme first.
// A separate file, because the content policy forbids inline scripts.
// The key and the values are those of src/composables/use-theme.ts.
try {
  var theme = localStorage.getItem("theme");
  if (theme === "light" || theme === "dark")
    document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be forbidden: then the theme of the system applies.
}
