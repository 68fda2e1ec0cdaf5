// The page of the server: it answers while one types, and what it shows adds up.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { DESKTOP, PHONE, accessible, browser, example, folder, open, priory, program, screenshot } from "./checks.js";

const TOKEN = "a-token-for-tests-0123456789";

// A server of three models on a port that is free, and its address.
async function served(t) {
  const made = folder(t);
  priory(made, "train", example("tennis.csv"), "--target", "play", "--judge", "none", "-o", "tennis.priory");
  priory(made, "train", example("penguins.csv"), "--target", "species", "-o", "penguins.priory");
  const mails = Array.from({ length: 60 }, (_, i) => i % 3 ? `ham,lunch at noon or a meeting ${i}` : `spam,buy cheap pills now ${i}`);
  writeFileSync(join(made, "mails.csv"), `label,text\n${mails.join("\n")}\n`);
  priory(made, "train", "mails.csv", "--target", "label", "--as", "text=text", "-o", "mails.priory");
  writeFileSync(join(made, "token"), `${TOKEN}\n`, { mode: 0o600 });
  const server = spawn(program, ["serve", "penguins.priory", "tennis.priory", "mails.priory", "--listen", "127.0.0.1:0", "--token-file", "token"], { cwd: made });
  t.after(async () => {
    server.kill("SIGTERM");
    if (server.exitCode === null) await once(server, "exit");
  });
  let said = "";
  for (const stream of [server.stdout, server.stderr]) stream.on("data", (bytes) => { said += bytes; });
  for (let i = 0; i < 300; i++) {
    const address = said.match(/http:\/\/127\.0\.0\.1:\d+/);
    if (address) return { made, address: address[0] };
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`the server did not say where it is: ${said}`);
}

// Waits until what the page shows does not change any more.
async function settled(page) {
  await page.waitForSelector("main[aria-busy=false]");
  await page.waitForSelector("#shown-posterior");
}

// The posterior in bars, and the terms on screen.
const shown = (page) => page.evaluate(() => ({
  posterior: Object.fromEntries([...document.querySelectorAll("#posterior li")].map((bar) => [bar.dataset.class, Number(bar.dataset.p)])),
  bits: [...document.querySelectorAll("#waterfall rect")].map((bar) => Number(bar.dataset.bits)),
  end: Number(document.querySelector("#shown-posterior").dataset.p),
  prediction: document.querySelector("#prediction").textContent,
}));

function addsUp({ posterior, bits, end }) {
  const all = Object.values(posterior).reduce((a, b) => a + b, 0);
  assert.ok(Math.abs(all - 1) < 1e-9, `the bars add up to ${all}`);
  const sum = bits.reduce((a, b) => a + b, 0);
  const p = 1 / (1 + 2 ** -sum);
  assert.ok(Math.abs(p - end) < 1e-9, `the terms add up to ${p}, and the posterior is ${end}`);
  assert.ok(Object.values(posterior).includes(end));
}

test("the page of the server", async (t) => {
  const { made, address } = await served(t);
  const started = await browser(t);
  const at = (model, options) => open(started, `${address}/?model=${model}`, address, options);

  await t.test("it answers while one types, and the terms add up to the answer", async () => {
    const { page, complaints } = await at("penguins");
    await settled(page);
    const nothing = await shown(page);
    addsUp(nothing);
    await page.getByLabel("bill_length_mm", { exact: false }).first().pressSequentially("49.5");
    await settled(page);
    const long = await shown(page);
    assert.notDeepEqual(long.posterior, nothing.posterior);
    addsUp(long);
    await page.getByLabel("island", { exact: false }).first().selectOption("Dream");
    await page.getByLabel("bill_depth_mm, over its range").focus();
    await page.keyboard.press("ArrowRight");
    await settled(page);
    const dream = await shown(page);
    assert.ok(dream.bits.length > long.bits.length);
    addsUp(dream);
    // The same as the program says.
    const typed = await page.getByLabel("bill_depth_mm", { exact: false }).first().inputValue();
    const explained = JSON.parse(priory(made, "explain", "penguins.priory", "--set", `bill_length_mm=49.5,island=Dream,bill_depth_mm=${typed}`, "--format", "json"));
    for (const [name, p] of Object.entries(explained.rows[0].posterior)) assert.ok(Math.abs(dream.posterior[name] - p) < 1e-12);
    // Every class can be looked at, and its terms add up as well.
    for (const side of ["Adelie", "Chinstrap", "Gentoo"]) {
      await page.locator("#side").selectOption(side);
      await page.waitForFunction((side) => document.querySelector("#waterfall svg").getAttribute("aria-label").includes(`= ${side} `), side);
      const seen = await shown(page);
      addsUp(seen);
      assert.equal(seen.end, seen.posterior[side]);
    }
    assert.deepEqual(complaints, []);
    await page.close();
  });

  await t.test("what would change the answer does", async () => {
    const { page, complaints } = await at("tennis");
    await settled(page);
    for (const [name, value] of [["outlook", "S"], ["temperature", "C"], ["humidity", "H"], ["wind", "W"]]) {
      await page.getByLabel(name, { exact: false }).first().selectOption(value);
    }
    await settled(page);
    await page.waitForSelector("#changes tbody tr");
    const before = await shown(page);
    addsUp(before);
    const { column, value } = await page.locator("#changes tbody tr").first().evaluate((row) => ({ ...row.dataset }));
    await page.getByLabel(column, { exact: false }).first().selectOption(value);
    await settled(page);
    assert.notEqual((await shown(page)).prediction, before.prediction);
    // Between two classes the rings of the nomogram add up to what the model says.
    await page.waitForFunction(() => document.querySelectorAll("#nomogram .ring").length === 4);
    assert.match(await page.locator("#sum").textContent(), /That is what the model comes to/);
    assert.deepEqual(complaints, []);
    await page.close();
  });

  await t.test("by keyboard only", async () => {
    const { page, complaints } = await at("tennis");
    await settled(page);
    const before = await shown(page);
    const focused = () => page.evaluate(() => document.activeElement.id || document.activeElement.tagName);
    for (let i = 0; i < 60 && !(await focused()).startsWith("field-"); i++) await page.keyboard.press("Tab");
    await page.keyboard.press("ArrowDown");
    await settled(page);
    await page.waitForFunction((p) => document.querySelector("#posterior li").dataset.p !== p, String(Object.values(before.posterior)[0]));
    const reached = new Set();
    for (let i = 0; i < 80; i++) {
      await page.keyboard.press("Tab");
      reached.add(await focused());
    }
    for (const id of ["clear", "side", "table", "score", "truth", "token", "learn", "forget"]) assert.ok(reached.has(id), `${id} is reached`);
    await page.locator("#clear").press("Enter");
    await page.waitForFunction((p) => document.querySelector("#posterior li").dataset.p === p, String(Object.values(before.posterior)[0]));
    assert.deepEqual(complaints, []);
    await page.close();
  });

  await t.test("words light up by what they speak for", async () => {
    const { page, complaints } = await at("mails");
    await settled(page);
    await page.locator("#form textarea").fill("Buy cheap pills or lunch?");
    await page.waitForSelector(".lit mark");
    await settled(page);
    addsUp(await shown(page));
    const words = await page.locator(".lit mark").evaluateAll((marks) => marks.map((mark) => [mark.textContent.toLowerCase(), mark.className]));
    const of = Object.fromEntries(words);
    assert.ok(of.cheap && of.lunch && of.cheap !== of.lunch, JSON.stringify(words));
    assert.deepEqual(complaints, []);
    await page.close();
  });

  await t.test("a table is answered", async () => {
    const { page, complaints } = await at("tennis");
    await settled(page);
    await page.locator("#table").fill(readFileSync(example("tennis.csv"), "utf8"));
    await page.locator("#score").click();
    await page.waitForSelector("#scored tbody tr");
    assert.equal(await page.locator("#scored tbody tr").count(), 14);
    const first = await page.locator("#scored tbody tr").first().locator("td").allTextContents();
    assert.ok(["+", "-"].includes(first[0]), first.join());
    assert.deepEqual(complaints, []);
    await page.close();
  });

  await t.test("who has the token teaches the model, and it forgets again", async () => {
    const { page, complaints } = await at("tennis");
    await settled(page);
    const rows = async () => Number((await page.locator("#about").textContent()).match(/learnt (\d+) rows/)[1]);
    assert.equal(await rows(), 14);
    await page.getByLabel("outlook", { exact: false }).first().selectOption("O");
    await page.locator("#truth").fill("-");
    await page.locator("#token").fill("wrong");
    await page.locator("#learn").click();
    await page.waitForFunction(() => document.querySelector("#taught").textContent.length > 0);
    assert.equal(await rows(), 14);
    // A refusal is told by the browser as well.
    assert.ok(complaints.splice(0).every((said) => said.includes("401")));
    await page.locator("#token").fill(TOKEN);
    await page.locator("#learn").click();
    await page.waitForFunction(() => document.querySelector("#about").textContent.includes("learnt 15 rows"));
    await page.locator("#forget").click();
    await page.waitForFunction(() => document.querySelector("#about").textContent.includes("learnt 14 rows"));
    assert.deepEqual(complaints, []);
    await page.close();
  });

  for (const model of ["penguins", "tennis", "mails"]) {
    for (const [size, viewport] of [["desktop", DESKTOP], ["phone", PHONE]]) {
      for (const colorScheme of ["light", "dark"]) {
        await t.test(`${model}, ${size}, ${colorScheme}`, async () => {
          const { page, complaints } = await at(model, { viewport, colorScheme });
          await settled(page);
          if (model === "penguins") {
            await page.getByLabel("bill_length_mm", { exact: false }).first().fill("46");
            await page.getByLabel("flipper_length_mm", { exact: false }).first().fill("198");
            await page.getByLabel("island", { exact: false }).first().selectOption("Dream");
          } else if (model === "mails") {
            await page.locator("#form textarea").fill("Buy cheap pills, or come to lunch at noon?");
          } else {
            await page.getByLabel("outlook", { exact: false }).first().selectOption("S");
          }
          await settled(page);
          await page.waitForSelector("#nomogram svg");
          addsUp(await shown(page));
          await accessible(page);
          await screenshot(page, `page-${model}-${size}-${colorScheme}`);
          assert.deepEqual(complaints, []);
          await page.close();
        });
      }
    }
  }
});
