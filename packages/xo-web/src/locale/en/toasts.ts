export const toasts = {
  heading: "What has just happened",
  putAway: "Put away",
};
