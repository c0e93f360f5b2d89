export const keyboard = {
  heading: "Keyboard shortcuts",
  lead: "Shortcuts are disabled in text fields and consoles.",
  help: "Show keyboard shortcuts",
  search: "Search",
  palette: "Search and actions",
  go: "Go to {page}",
  groups: {
    page: "On this page",
    everywhere: "Everywhere",
    go: "Go to",
  },
  then: "{first}, then {second}",
  shift: "Shift",
  control: "Ctrl",
  enter: "Enter",
  escape: "Esc",
  singleKeys: "Enable single-key shortcuts (without Ctrl)",
  singleKeysHint:
    "Disable them for speech input or to prevent accidental key presses. Stored in this browser.",
};
