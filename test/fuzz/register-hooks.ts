import { register } from "node:module";

register("./instrument-hooks.js", import.meta.url);
