import deniedWords from "./denied-words.js";
import noSpreadLiteral from "./no-spread-literal.js";

/** Rules of this project, for ESLint and oxlint. */
export default {
  rules: {
    "denied-words": deniedWords,
    "no-spread-literal": noSpreadLiteral,
  },
};
