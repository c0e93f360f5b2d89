import vue from "@vitejs/plugin-vue";
import { defineConfig } from "vite";
import { compressedFiles } from "./compressed-files.js";
import { licenseTexts } from "./license-texts.js";

/** Of the server that answers the page while it is developed. */
const server = process.env["XO_SERVER"] ?? "http://localhost:9000";

export default defineConfig({
  // Relative, so that the page also works behind a proxy that puts it under a path.
  base: "./",
  plugins: [
    vue({ features: { optionsAPI: false } }),
    compressedFiles(),
    licenseTexts(),
  ],
  build: {
    target: "es2022",
    // The server's content policy allows files of its own only: no data: URLs, no inline script.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: {
      "/api": { target: server, ws: true },
      "/rest": { target: server },
    },
  },
});
