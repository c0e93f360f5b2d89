import js from "@eslint/js";
import vue from "eslint-plugin-vue";
import tseslint from "typescript-eslint";
import wording from "./eslint-rules/wording.js";

// Components of the page; all other code is checked by oxlint (.oxlintrc.json), which
// does not read templates. Without types, which vue-tsc checks.
export default tseslint.config({
  files: ["**/*.vue"],
  extends: [js.configs.recommended, ...vue.configs["flat/essential"]],
  languageOptions: { parserOptions: { parser: tseslint.parser } },
  plugins: { wording, "@typescript-eslint": tseslint.plugin },
  rules: {
    "wording/denied-words": "error",
    "wording/no-spread-literal": "error",
    "no-useless-rename": "error",
    // Its methods read private fields; the rule of oxlint for this needs types.
    "no-restricted-syntax": [
      "error",
      {
        selector:
          "VariableDeclarator[id.type='ObjectPattern'][init.object.name='formats']",
        message: "Call methods on the object: formats.value.size(...).",
      },
    ],
    "object-shorthand": ["error", "properties"],
    // TypeScript knows the globals.
    "no-undef": "off",
    "no-unused-vars": "off",
    "@typescript-eslint/no-unused-vars": "error",
    "@typescript-eslint/no-explicit-any": "error",
    // Fields of one form write to the reactive object that its dialog passes.
    "vue/no-mutating-props": ["error", { shallowOnly: true }],
    "vue/no-unused-properties": "error",
    "vue/no-unused-refs": "error",
    "vue/no-unused-emit-declarations": "error",
    // vue-tsc checks that each branch returns.
    "vue/return-in-computed-property": "off",
  },
});
