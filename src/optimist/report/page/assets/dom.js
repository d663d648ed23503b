// Helpers: elements, numbers as text, and colours of the theme.

function byId(id) {
  return document.getElementById(id);
}

/** An element with attributes and children; strings become text, never markup. */
function element(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** A number to some significant digits; digits before the point are never rounded. */
function number(x, digits = 4) {
  if (x === null || x === undefined) return "–";
  const size = Math.abs(x);
  if (x !== 0 && (size < 1e-4 || size >= 1e9)) return x.toExponential(2).replaceAll("-", "−");
  const whole = size >= 1 ? Math.floor(Math.log10(size)) + 1 : 0;
  const text = x.toLocaleString("en", { maximumSignificantDigits: Math.max(digits, whole) });
  return text.replace("-", "−");
}

/** A fraction in per cent; rounding errors are 0, as in the tables. */
function percent(x) {
  if (x === null || x === undefined) return "–";
  return `${number(Math.abs(x) < 1e-12 ? 0 : 100 * x, 3)}%`;
}

const FORMS = { percent, number };

const probe = element("span", { hidden: "" });
document.body.append(probe);

/** A colour of the style sheet as it is in the present theme. */
function colourOf(name) {
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}
