// What every test of a page in a browser starts from: the program, a folder, and a browser that sees nothing but this machine.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { chromium } from "playwright-core";

export const project = process.env.PROJECT;
export const program = process.env.PRIORY;
const pictures = process.env.SCREENSHOTS;

export const DESKTOP = { width: 1280, height: 900 };
export const PHONE = { width: 375, height: 740 };

// A new folder that is removed after the tests.
export function folder(t) {
  const made = mkdtempSync(join(tmpdir(), "priory-"));
  t.after(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

export const priory = (folder, ...words) => execFileSync(program, words, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

export const example = (name) => join(project, "examples", name);

export async function browser(t) {
  const started = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],
  });
  t.after(() => started.close());
  return started;
}

// A page at an address, and what it has complained about and asked for. `where` is what all addresses must begin with.
export async function open(started, address, where, { viewport = DESKTOP, colorScheme = "light", ...more } = {}) {
  const page = await started.newPage({ viewport, colorScheme, ...more });
  const complaints = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => {
    const url = request.url();
    if (![where, "data:", `blob:${where}`].some((start) => url.startsWith(start))) complaints.push(`asks for ${url}`);
  });
  page.on("requestfailed", (request) => complaints.push(`${request.url()}: ${request.failure()?.errorText}`));
  await page.goto(address);
  return { page, complaints };
}

// Nothing serious by the rules of axe-core, and nothing that is wider than the page.
export async function accessible(page) {
  await page.evaluate(readFileSync(createRequire(import.meta.url).resolve("axe-core"), "utf8"));
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  const serious = found.violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
  assert.deepEqual(serious.map(({ id, nodes }) => [id, nodes.slice(0, 3).map(({ html, failureSummary }) => `${html.slice(0, 200)} ${failureSummary}`)]), []);
  const [wide, width] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wide <= width, `the page is ${wide} wide where there is room for ${width}`);
}

export async function screenshot(page, name) {
  if (!pictures) return;
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
}

export const number = async (page, selector) => Number((await page.locator(selector).textContent()).replace(/[^\d.eE+-]/g, ""));
