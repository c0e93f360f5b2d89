import { createApp } from "vue";
import { createRouter, createWebHashHistory } from "vue-router";
import App from "./App.vue";
import { initialLanguage } from "./locale/use-locale.js";
import { routes } from "./routes.js";
import "./theme.css";

await initialLanguage();
const router = createRouter({
  // Behind the hash, so that the page works under any path of a proxy.
  history: createWebHashHistory(),
  routes,
  scrollBehavior: (to, from, saved) =>
    saved ?? (to.path === from.path ? false : { top: 0 }),
});
createApp(App).use(router).mount("#app");
