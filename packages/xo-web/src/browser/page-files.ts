import { isReachable } from "../api/is-reachable.js";

/** Pause between two attempts to reach the server, in ms. */
const PAUSE_MS = 2_000;

/** Progress of parts of the page that could not be loaded at once, for `onFilesProgress`. */
export type FilesProgress = "waiting" | "loaded" | "missing";

const EVENT = "page-files";

/**
 * Loads a part of the page: modules with their styles. If the server does not respond,
 * waits until it does, so that nothing that is open is lost.
 * @throws Error if the server responds, but no longer has the files: it was updated
 */
export async function loadFiles<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch {
    // Possibly the connection only: the next attempt shows it.
  }
  report("waiting");
  for (;;) {
    while (!(await isReachable())) await pause();
    try {
      await reloadStyles();
      const loaded = await load();
      report("loaded");
      return loaded;
    } catch (error) {
      if (!(await isReachable())) continue;
      report("missing");
      throw error;
    }
  }
}

function report(detail: FilesProgress): void {
  dispatchEvent(new CustomEvent<FilesProgress>(EVENT, { detail }));
}

/** After each `waiting` there is one `loaded` or `missing`. */
export function onFilesProgress(
  listener: (progress: FilesProgress) => void,
  signal: AbortSignal,
): void {
  const notified = (event: Event) => {
    listener((event as CustomEvent<FilesProgress>).detail);
  };
  addEventListener(EVENT, notified, { signal });
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, PAUSE_MS);
  });
}

/** Marks style sheets that could not be loaded, for the next attempt of `loadFiles`. */
export function markFailedStyles(signal: AbortSignal): void {
  const failed = ({ target }: Event) => {
    if (target instanceof HTMLLinkElement && target.rel === "stylesheet")
      target.dataset["failed"] = "";
  };
  document.addEventListener("error", failed, { capture: true, signal });
}

/** Requests the marked style sheets again: Vite requests each one once. */
async function reloadStyles(): Promise<void> {
  const failed =
    document.querySelectorAll<HTMLLinkElement>("link[data-failed]");
  await Promise.all([...failed].map(reloadStyle));
}

function reloadStyle(failed: HTMLLinkElement): Promise<void> {
  const link = failed.cloneNode() as HTMLLinkElement;
  delete link.dataset["failed"];
  const ended = new Promise<void>((resolve, reject) => {
    link.addEventListener("load", () => {
      resolve();
    });
    link.addEventListener("error", () => {
      reject(new Error(`cannot load ${link.href}`));
    });
  });
  failed.replaceWith(link);
  return ended;
}

/** Whether the server has other files than this page, after an update. */
export async function isOutdated(): Promise<boolean> {
  const script = entryScript(document);
  try {
    // The entry has the names of all other files, and its own name has a hash of its content.
    const answer = await fetch(document.baseURI.split("#")[0]!, {
      cache: "no-cache",
      headers: { accept: "text/html" },
    });
    if (!answer.ok) return false;
    const page = new DOMParser().parseFromString(
      await answer.text(),
      "text/html",
    );
    const current = entryScript(page);
    return script !== null && current !== null && script !== current;
  } catch {
    // Not reachable: asked again at the next connection.
    return false;
  }
}

function entryScript(page: Document): string | null {
  const script = page.querySelector("script[type=module][src]");
  return script?.getAttribute("src") ?? null;
}
