import { inflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { htmlPage } from './html-page.ts';
import type { ReportData } from './report-data.ts';

const data: ReportData = {
  heading: '</script><!--',
  database: '\u2028',
  verdict: { kind: 'unknown', text: '$& $1' },
  notes: [],
  tables: [],
  runs: [],
};

test('data stands in the page compressed, in letters that end no element', () => {
  const page = htmlPage('<script type="text/plain"><!--report--></script>', data);
  const [, base64 = ''] = /^<script type="text\/plain">([A-Za-z0-9+/=]*)<\/script>$/.exec(page) ?? [];
  expect(JSON.parse(inflateSync(Buffer.from(base64, 'base64')).toString())).toEqual(data);
});

test('a page without a place for its data is refused, and one with two', () => {
  expect(() => htmlPage('<html>', data)).toThrow('one place');
  expect(() => htmlPage('<!--report--><!--report-->', data)).toThrow('one place');
});
