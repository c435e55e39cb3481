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

test('data stands in the page as JSON that ends no element', () => {
  const page = htmlPage('<script type="application/json">{"report":null}</script>', data);
  const [, json = ''] = /^<script type="application\/json">([^<]*)<\/script>$/.exec(page) ?? [];
  expect(JSON.parse(json)).toEqual({ report: data });
});

test('a page without a place for its data is refused, and one with two', () => {
  expect(() => htmlPage('<html>', data)).toThrow('one place');
  expect(() => htmlPage('{"report":null}{"report":null}', data)).toThrow('one place');
});
