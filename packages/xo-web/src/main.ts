import { createApp } from "vue";
import { createRouter, createWebHashHistory } from "vue-router";
import App from "./App.vue";
import { provideLocale } from "./locale/use-locale.js";
import { createRoutes } from "./routes.js";
import "./theme.css";
import "./forced-colors.css";

const app = createApp(App);
const { withAllTexts } = await provideLocale(app);
const router = createRouter({
  // Routes are in the hash, so that the page works under any path of a proxy.
  history: createWebHashHistory(),
  routes: createRoutes(withAllTexts),
  scrollBehavior: (to, from, saved) =>
    saved ?? (to.path === from.path ? false : { top: 0 }),
});
app.use(router).mount("#app");
