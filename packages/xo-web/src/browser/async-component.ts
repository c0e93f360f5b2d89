import {
  defineAsyncComponent,
  type AsyncComponentLoader,
  type Component,
} from "vue";
import { loadFiles } from "./page-files.js";

/** Defines a component that is loaded when it is first rendered, as soon as the server responds. */
export function asyncComponent<T extends Component>(
  load: AsyncComponentLoader<T>,
): T {
  return defineAsyncComponent(() => loadFiles(load));
}
