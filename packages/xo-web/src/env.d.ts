/// <reference types="vite/client" />

// For tools that do not read .vue files, such as ESLint; vue-tsc does.
declare module "*.vue" {
  import type { Component } from "vue";
  const component: Component;
  export default component;
}
