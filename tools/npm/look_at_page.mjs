// Looks at pages in a real Chromium: `node look_at_page.mjs PAGE... [--shots DIR]` prints a JSON list.
//
// Every page is opened at two widths, light and dark. What is told: what the console said, by how many
// pixels the page is wider than its window, which tables do not fit, how tall it is, and the
// serious findings of axe.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.cwd()}/build/npm/`);
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const wanted = process.argv.slice(2);
const at = wanted.indexOf("--shots");
const shots = at < 0 ? "" : wanted.splice(at, 2)[1];
const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
  "--disable-background-networking", "--disable-component-update",
];

async function look(browser, path, width, colorScheme) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
  const page = await context.newPage();
  const said = [];
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(String(error)));
  await page.goto(pathToFileURL(path).href);
  const [excess, height] = await page.evaluate(() => {
    const root = document.documentElement;
    return [root.scrollWidth - root.clientWidth, root.scrollHeight];
  });
  const cut = await page.evaluate(() =>
    [...document.querySelectorAll(".wide")]
      .filter((box) => box.scrollWidth > box.clientWidth)
      .map((box) => box.getAttribute("aria-label")),
  );
  if (shots) {
    const name = `${basename(path, ".html")}-${width}-${colorScheme}.png`;
    await page.screenshot({ path: `${shots}/${name}`, fullPage: true });
  }
  await page.evaluate(axe); // past the page's own policy, which lets nothing run
  const told = (await page.evaluate(() => window.axe.run())).violations;
  const serious = told
    .filter((finding) => ["serious", "critical"].includes(finding.impact))
    .map((finding) => `${finding.id}: ${finding.nodes.map((node) => node.target).join(" | ")}`);
  await context.close();
  return { page: path, width, colorScheme, said, excess, cut, height, serious };
}

const executablePath = process.env.STRATWRIGHT_CHROMIUM || "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: FLAGS });
const found = [];
for (const path of wanted) {
  for (const width of [1280, 390]) {
    for (const scheme of ["light", "dark"]) found.push(await look(browser, path, width, scheme));
  }
}
await browser.close();
console.log(JSON.stringify(found, null, 1));
