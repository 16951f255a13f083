"use strict";
// A line under the pointer that tells the moment, and a call's lane and row lit together.
const svg = document.querySelector("svg.plot");
const cursor = svg.querySelector(".cursor");
const readout = svg.querySelector(".readout");
const { left, right, length, unit } = svg.dataset;

function label(value) {
  if (unit === "bytes") return Math.round(value).toLocaleString("en") + " B";
  return length < 10 ? Math.round(value * 1000) + " ms" : value.toFixed(2) + " s";
}

svg.addEventListener("pointermove", (event) => {
  const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  const inside = point.x >= +left && point.x <= +right;
  cursor.style.visibility = readout.style.visibility = inside ? "visible" : "hidden";
  cursor.setAttribute("x1", point.x);
  cursor.setAttribute("x2", point.x);
  readout.setAttribute("x", point.x);
  readout.textContent = label(((point.x - left) / (right - left)) * length);
});
svg.addEventListener("pointerleave", () => {
  cursor.style.visibility = readout.style.visibility = "hidden";
});

for (const one of document.querySelectorAll("[data-call]")) {
  const pair = document.querySelectorAll(`[data-call="${one.dataset.call}"]`);
  one.addEventListener("pointerenter", () => pair.forEach((each) => each.classList.add("lit")));
  one.addEventListener("pointerleave", () => pair.forEach((each) => each.classList.remove("lit")));
}
