import { createApp } from "vue";
import App from "./App.vue";
import { initialLanguage } from "./composables/use-locale.js";
import "./theme.css";

await initialLanguage();
createApp(App).mount("#app");
