// The report in a browser: it opens from the disk, asks nobody, and its cut-off moves what it should.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { DESKTOP, PHONE, accessible, browser, example, folder, number, open, priory, screenshot } from "./checks.js";

// Enough mails for words to tell.
function mails() {
  const spam = ["buy cheap pills now", "win money now", "cheap watches for you", "you win a prize"];
  const ham = ["lunch at noon today", "notes of the meeting", "the report is done", "see you at the meeting"];
  const rows = Array.from({ length: 120 }, (_, i) => [i % 3 ? ["ham", ham[i % 4]] : ["spam", spam[(i / 3) % 4 | 0]], i])
    .map(([[label, text], i]) => `${label},${text} ${["monday", "tuesday", "friday"][i % 3 ? i % 2 : i % 5 % 3]} ${i % 7} times`);
  return `label,text\n${rows.join("\n")}\n`;
}

function reports(t) {
  const made = folder(t);
  priory(made, "report", example("customers.csv"), "--target", "left", "-o", "customers.html");
  priory(made, "report", example("penguins.csv"), "--target", "species", "-o", "penguins.html");
  writeFileSync(join(made, "mails.csv"), mails());
  priory(made, "report", "mails.csv", "--target", "label", "-o", "mails.html");
  return made;
}

test("reports", async (t) => {
  const made = reports(t);
  const started = await browser(t);
  const at = (name) => `file://${join(made, name)}.html`;

  await t.test("its script is the one that its policy allows", () => {
    const text = readFileSync(join(made, "customers.html"), "utf8");
    const script = text.slice(text.lastIndexOf("<script>") + "<script>".length, text.lastIndexOf("</script>"));
    const hash = createHash("sha256").update(script).digest("base64");
    assert.ok(text.includes(`script-src 'sha256-${hash}'`), `report_page/script.sha256 should be ${hash}`);
  });

  await t.test("the cut-off moves the confusion matrix", async () => {
    const { page, complaints } = await open(started, at("customers"), "file:");
    const cells = ["hits", "misses", "alarms", "quiet"];
    const all = async () => Promise.all(cells.map((cell) => number(page, `#${cell}`)));
    const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
    const half = await all();
    assert.equal(await page.locator("#chosen").textContent(), "0.50");
    assert.equal(sum(half), 1500);
    // The numbers are those of the confusion matrix of the report, in which the more probable class is answered.
    const report = JSON.parse(priory(made, "evaluate", example("customers.csv"), "--target", "left", "--format", "json"));
    const [[quiet, alarms], [misses, hits]] = report.confusion;
    assert.deepEqual(half, [hits, misses, alarms, quiet]);
    await page.locator("#at").focus();
    for (let i = 0; i < 20; i++) await page.keyboard.press("ArrowRight");
    assert.equal(await page.locator("#chosen").textContent(), "0.70");
    const strict = await all();
    assert.ok(strict[0] < half[0] && strict[2] < half[2] && sum(strict) === 1500, `${half} ${strict}`);
    await page.keyboard.press("Home");
    assert.deepEqual(await all(), [half[0] + half[1], 0, half[2] + half[3], 0]);
    await page.keyboard.press("End");
    assert.ok(Math.abs((await all())[0] + (await all())[2]) < half[0] + half[2]);
    assert.match(await page.locator("#at").getAttribute("aria-valuetext"), /precision/);
    // A dot goes along on the curves.
    assert.equal(await page.locator("#roc circle").count(), 1);
    await page.locator("#miss").fill("10");
    await page.locator("#cheapest").press("Enter");
    const [, missed] = await all();
    const cost = (10 * missed + (await all())[2]) / 1500;
    assert.ok(Math.abs(await number(page, "#cost") - cost) < 1e-3 * cost);
    assert.ok(missed < half[1], "misses that cost ten times as much become fewer");
    assert.deepEqual(complaints, []);
    await page.close();
  });

  await t.test("it can be used by keyboard only", async () => {
    const { page, complaints } = await open(started, at("penguins"), "file:");
    const reached = new Set();
    for (let i = 0; i < 200; i++) {
      await page.keyboard.press("Tab");
      const id = await page.evaluate(() => document.activeElement?.id || document.activeElement?.tagName);
      if (id === "BODY" && i > 5) break;
      reached.add(id);
    }
    for (const id of ["class", "at", "miss", "alarm", "cheapest", "SUMMARY", "A"]) assert.ok(reached.has(id), `${id} is reached`);
    await page.locator("#class").focus();
    const before = await number(page, "#hits");
    await page.keyboard.press("ArrowDown");
    assert.notEqual(await number(page, "#hits"), before, "another class has other rows");
    const details = page.locator("#nomogram ~ details").nth(1);
    await details.locator("summary").press("Enter");
    assert.equal(await details.getAttribute("open"), "");
    assert.deepEqual(complaints, []);
    await page.close();
  });

  for (const name of ["customers", "penguins", "mails"]) {
    for (const [size, viewport] of [["desktop", DESKTOP], ["phone", PHONE]]) {
      for (const colorScheme of ["light", "dark"]) {
        await t.test(`${name}, ${size}, ${colorScheme}`, async () => {
          const { page, complaints } = await open(started, at(name), "file:", { viewport, colorScheme });
          await accessible(page);
          await screenshot(page, `report-${name}-${size}-${colorScheme}`);
          assert.deepEqual(complaints, []);
          await page.close();
        });
      }
    }
  }

  await t.test("on paper everything is there", async () => {
    const { page } = await open(started, at("customers"), "file:");
    await page.emulateMedia({ media: "print" });
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    assert.equal(await page.locator("details:not([open])").count(), 0);
    assert.ok((await page.pdf({ format: "A4" })).length > 20_000);
    await page.close();
  });

  await t.test("without its script it is whole", async () => {
    const { page } = await open(started, at("customers"), "file:", { javaScriptEnabled: false });
    assert.ok(await page.locator("h2#nomogram").isVisible() && await page.locator("svg").count() > 4);
    await page.close();
  });
});
