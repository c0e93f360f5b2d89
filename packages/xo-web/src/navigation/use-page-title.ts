import { watchEffect } from "vue";
import { useRoute } from "vue-router";
import { fill } from "../locale/messages.js";
import { useLocale } from "../locale/use-locale.js";

/**
 * The title of the window, which the browser's history and bookmarks show.
 * @param title empty: that of the route
 */
export function usePageTitle(title: () => string): void {
  const { text } = useLocale();
  const route = useRoute();
  // The frame sets the title of the route first.
  watchEffect(
    () => {
      void route.fullPath;
      const page = title();
      if (page !== "")
        document.title = fill(text.value.shell.documentTitle, {
          page,
          product: text.value.product,
        });
    },
    { flush: "post" },
  );
}
