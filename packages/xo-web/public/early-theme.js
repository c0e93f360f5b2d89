/* global localStorage, document */
// Runs before the first paint, so that a remembered theme never flashes in the
// other one. A file of its own, because the content policy forbids inline script.
// The key and the values are those of src/composables/use-theme.ts.
try {
  var theme = localStorage.getItem("theme");
  if (theme === "light" || theme === "dark")
    document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be forbidden: then the system's theme holds.
}
