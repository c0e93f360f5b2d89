import { Ajv } from "ajv";
import { Config } from "./config.js";

/** `verbose`: errors hold the schema. An empty section (`http:`) is null in YAML: all its defaults. */
export const configAjv = new Ajv({
  allErrors: true,
  useDefaults: "empty",
  verbose: true,
  strictTypes: false,
  // Validating the schema itself would add 50 ms to each start; a test does it instead.
  validateSchema: false,
  // The code runs once, so optimizing it takes longer than running it. The bundler uses the source.
  code: { optimize: false, source: true, esm: true },
});

/**
 * Checks a config and adds defaults. In the bundled program this module is replaced
 * by the code that Ajv generates from the schema (`bin/bundle.js`), because
 * generating it takes 75 ms of CPU at each start.
 */
export const validate = configAjv.compile(Config);
