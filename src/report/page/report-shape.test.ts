import { expect, test } from 'vitest';
import { emptyRun, emptyStep } from './empty-picture.ts';
import type { PictureStep, ReportData, RunPicture } from './report-data.ts';
import { faultInReport } from './report-shape.ts';

const blank: PictureStep = { ...emptyStep, session: 1, transaction: 0, text: 'read x' };
const run: RunPicture = {
  ...emptyRun,
  message: 'm',
  sessions: ['a', 'b'],
  transactions: [{ name: 'a/0', session: 0, status: 'committed' }],
  steps: [blank],
  messages: [{ text: 'm', from: 0, to: null }],
  cycle: [{ from: 0, to: null, relation: 'rw', text: '', steps: [0] }],
  initial: [['x', null]],
};
const report = (changes: Partial<RunPicture>): ReportData => ({
  heading: '',
  database: '',
  verdict: { kind: 'violated', text: '' },
  notes: [],
  tables: [],
  runs: [run, { ...run, ...changes }],
});
const read = { key: 'x', value: 1, condition: null, from: null, writer: null, sight: 'current' } as const;

test('what the tools make is a report', () => {
  expect(faultInReport(report({}))).toBeNull();
  expect(faultInReport(JSON.parse(JSON.stringify(report({ steps: [{ ...blank, reads: [read] }] }))))).toBeNull();
});

test.each([
  ['.steps[0].session', { steps: [{ ...blank, session: 0.5 }] }],
  ['.steps[0].reads[0].sight', { steps: [{ ...blank, reads: [{ ...read, sight: 'new' }] }] }],
  ['.steps[0].reads[0].value', { steps: [{ ...blank, reads: [{ ...read, value: undefined }] }] }],
  ['.initial[0]', { initial: [['x']] }],
  ['.transactions', { transactions: {} }],
  ['.message', { message: null }],
  ['.state', { state: 'other' }],
])('a field of another shape is named: %s', (field, changes) => {
  // Wrong on purpose.
  expect(faultInReport(report(changes as unknown as Partial<RunPicture>))).toBe(`report.runs[1]${field}`);
});

test.each([
  ['a session', { transactions: [{ name: '', session: 2, status: 'committed' }] }],
  ['a column', { steps: [{ ...blank, session: -1 }] }],
  ['a box', { steps: [{ ...blank, transaction: 1 }] }],
  ['a writer', { steps: [{ ...blank, reads: [{ ...read, writer: 1 }] }] }],
  ['the end of an arrow', { messages: [{ text: '', from: 0, to: 1 }] }],
  ['an edge', { cycle: [{ from: 1, to: 0, relation: 'rw', text: '', steps: [] }] }],
  ['a step of an edge', { cycle: [{ from: 0, to: 0, relation: 'rw', text: '', steps: [1] }] }],
] as const)('%s that is not there', (_what, changes) => {
  expect(faultInReport(report(changes))).toBe('report.runs[1]');
});

test('values that are no object are none', () => {
  for (const value of [undefined, null, [], 'report', 1]) expect(faultInReport(value)).toBe('report');
  expect(faultInReport(Object.create({ heading: '' }))).toBe('report.heading');
});
