export const toasts = {
  heading: "Notifications",
  putAway: "Dismiss",
};
