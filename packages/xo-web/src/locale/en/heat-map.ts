export const heatMap = {};
