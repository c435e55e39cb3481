// Opens reports from disk in Chromium, walks the stepper of each to its end by keyboard, reads JUnit's XML with its parser, and prints what it saw as JSON:
// for the test of the page.
import { existsSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { AxeBuilder } from '@axe-core/playwright';
import { chromium } from 'playwright-core';

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
if (executablePath === undefined) {
  throw new Error('no Chromium: install the package chromium');
}

// A sandbox is not to be had where a test runs as root.
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
const [seen, suites] = [[], []];
try {
  const files = process.argv.slice(2).filter((file) => file.endsWith('.html'));
  for (const [i, file] of files.entries()) seen.push(await look(file, i % 2 === 0 ? 'light' : 'dark'));
  for (const file of process.argv.slice(2).filter((name) => name.endsWith('.xml'))) suites.push(await readXml(file));
} finally {
  await browser.close();
}
process.stdout.write(JSON.stringify({ seen, suites }));

/** JUnit's XML as a parser of XML reads it. */
async function readXml(file) {
  const page = await browser.newPage();
  const suite = await page.evaluate(
    (text) => {
      const found = new DOMParser().parseFromString(text, 'application/xml');
      const error = found.querySelector('parsererror');
      if (error !== null) throw new Error(error.textContent);
      return {
        elements: [...new Set([...found.querySelectorAll('*')].map(({ localName }) => localName))],
        name: found.querySelector('testsuites > testsuite').getAttribute('name'),
        failures: [...found.querySelectorAll('testsuite > testcase > failure')].map((failure) => ({
          name: failure.parentElement.getAttribute('name'),
          message: failure.getAttribute('message'),
          text: failure.textContent,
        })),
      };
    },
    readFileSync(file, 'utf8'),
  );
  await page.close();
  return suite;
}

async function look(file, colorScheme) {
  const context = await browser.newContext({
    viewport: { width: 1400, height: 900 },
    reducedMotion: 'reduce',
    colorScheme,
  });
  const page = await context.newPage();
  const [errors, requests] = [[], []];
  const url = pathToFileURL(file).href;
  page.on('console', (message) => void errors.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => void errors.push(error.message));
  page.on('dialog', (dialog) => {
    errors.push(`dialog: ${dialog.message()}`);
    return dialog.dismiss();
  });
  page.on('request', (request) => void (request.url() === url || requests.push(request.url())));
  await page.goto(url);
  await page.waitForSelector('h1');
  const words = await page.evaluate(() => document.body.innerText);
  const title = await page.title();
  const serious = await seriousFaults(page);
  const hasStepper = (await page.locator('#step').count()) > 0;
  const walked = hasStepper ? await walk(page) : [];
  const elements = await page.evaluate(() => [...document.querySelectorAll('*')].map(({ localName }) => localName));
  await context.close();
  return { words, title, errors, requests, serious, walked, elements: [...new Set(elements)] };
}

/** What axe calls serious or critical. */
async function seriousFaults(page) {
  const { violations } = await new AxeBuilder({ page }).setLegacyMode(true).analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`);
}

/** The line of the stepper and the table of keys, before the first step and after each. */
async function walk(page) {
  await page.keyboard.press('Home');
  const steps = [await standing(page)];
  const count = await page.locator('[data-step]').count();
  for (let i = 0; i < count; i += 1) {
    await page.keyboard.press('ArrowRight');
    steps.push(await standing(page));
  }
  return steps;
}

function standing(page) {
  return page.evaluate(async () => {
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    const textOf = (element) => element.textContent;
    const rows = [...document.querySelectorAll('.state tbody tr')];
    return {
      line: textOf(document.querySelector('#step')),
      current: document.querySelector('[aria-current="step"]')?.getAttribute('aria-label') ?? null,
      rows: rows.map((row) => [...row.children].map(textOf)),
    };
  });
}
