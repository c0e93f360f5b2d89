import js from "@eslint/js";
import vue from "eslint-plugin-vue";
import tseslint from "typescript-eslint";
import wording from "./eslint-rules/denied-words.js";

export default tseslint.config(
  {
    ignores: [
      "packages/parser-pool/assembly/",
      "**/dist/",
      "**/dist-test/",
      "**/node_modules/",
      ".tap/",
      "**/*.d.ts",
    ],
  },
  js.configs.recommended,
  {
    files: ["**/*.js", "bin/*"],
    languageOptions: {
      globals: {
        process: "readonly",
        console: "readonly",
        Buffer: "readonly",
        URL: "readonly",
      },
    },
  },
  {
    files: ["packages/xo-server/rest-docs/*.js"],
    languageOptions: {
      globals: { document: "readonly", fetch: "readonly" },
    },
  },
  {
    files: ["**/*.ts"],
    extends: [
      ...tseslint.configs.recommendedTypeChecked,
      ...tseslint.configs.stylistic,
    ],
    languageOptions: { parserOptions: { projectService: true } },
    plugins: { wording },
    rules: {
      "wording/denied-words": "error",
      "no-useless-rename": "error",
      "object-shorthand": ["error", "properties"],
      "max-params": ["error", 4],
      "no-restricted-syntax": [
        "error",
        {
          selector: "ObjectExpression > SpreadElement > ObjectExpression",
          message: "Write the properties into the literal itself.",
        },
      ],
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/switch-exhaustiveness-check": "error",
      // A bound that was checked on the line above is not worth a branch in a hot loop.
      "@typescript-eslint/no-non-null-assertion": "off",
      "@typescript-eslint/require-await": "off",
    },
  },
  {
    // Without types, which vue-tsc checks: a program of its own would double the time of lint.
    files: ["**/*.vue"],
    extends: [...vue.configs["flat/essential"]],
    languageOptions: { parserOptions: { parser: tseslint.parser } },
    plugins: { wording, "@typescript-eslint": tseslint.plugin },
    rules: {
      "wording/denied-words": "error",
      "no-useless-rename": "error",
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
  },
  {
    files: ["**/test/**/*.ts"],
    // tap's t.test returns a promise that tap itself waits for.
    rules: { "@typescript-eslint/no-floating-promises": "off" },
  },
);
