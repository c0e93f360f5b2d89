import { createApp } from "vue";
import App from "./App.vue";
import { initialLanguage } from "./composables/use-locale.js";
import { consoleIn } from "./consoles/console-route.js";
import "./theme.css";

await initialLanguage();
const id = consoleIn(location.hash);
if (id === undefined) createApp(App).mount("#app");
else {
  const page = await import("./pages/ConsolePage.vue");
  createApp(page.default, { id }).mount("#app");
}
// A console has a tab of its own: from and to it, the page begins anew.
addEventListener("hashchange", () => {
  if (consoleIn(location.hash) !== id) location.reload();
});
