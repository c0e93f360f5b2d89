import { Ajv } from "ajv";
import { Config } from "./config.js";

/** `verbose`: errors hold the schema. An empty section (`http:`) is null in YAML: all its defaults. */
export const configAjv = new Ajv({
  allErrors: true,
  useDefaults: "empty",
  verbose: true,
  strictTypes: false,
  // Validating the schema itself would add 50 ms to each start; a test does it.
  validateSchema: false,
  // The code runs once: making it shorter takes longer than running it. The bundler takes the source.
  code: { optimize: false, source: true, esm: true },
});

/**
 * Checks a config and adds defaults. In the bundled program this module is the code that Ajv
 * makes of the schema (`bin/bundle.js`): making it at each start takes 75 ms of CPU.
 */
export const validate = configAjv.compile(Config);
