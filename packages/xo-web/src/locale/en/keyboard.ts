export const keyboard = {
  heading: "Keyboard",
  lead: "What keys do here and now. Not while you write, and not in a console.",
  help: "This help",
  search: "Search",
  palette: "Search or do something, anywhere",
  go: "Go to {page}",
  groups: {
    page: "On this page",
    everywhere: "Everywhere",
    go: "Go to",
  },
  then: "{first}, then {second}",
  control: "Ctrl",
  enter: "Enter",
  escape: "Esc",
  singleKeys: "Keys without Ctrl do something",
  singleKeysHint:
    "Switch it off if you speak to your computer, or press keys by accident. Remembered in this browser.",
};
