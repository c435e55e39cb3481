import { expect, test } from 'vitest';
import { xmlText } from './xml-text.ts';

test('what has a meaning in XML is a reference', () => {
  expect(xmlText(`a < b > c & d "e" 'f' ]]>`)).toBe("a &lt; b &gt; c &amp; d &quot;e&quot; 'f' ]]&gt;");
  expect(xmlText('one\r\ntwo\tthree')).toBe('one&#13;\ntwo\tthree');
});

test('what XML cannot hold is shown as an escape', () => {
  expect(xmlText('\0\u0008\u001f')).toBe(String.raw`\u0000\u0008\u001f`);
  expect(xmlText('\ufffe\uffff\ud800')).toBe(String.raw`\ufffe\uffff\ud800`);
  expect(xmlText('\ufffd\u{1f600}日本')).toBe('\ufffd\u{1f600}日本');
});
