export const toasts = {
  heading: "Notifications",
  dismiss: "Dismiss",
};
