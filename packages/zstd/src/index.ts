export { ZstdModule } from "./zstd-module.js";
