/** Text between the tags and in the attributes of XML. */

/** What XML 1.0 has no way to write (section 2.2: most control characters) is shown as an escape. */
export function xmlText(text: string): string {
  return text
    .replaceAll(
      /[^\t\n\r -\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
    .replaceAll(/[&<>"\r]/g, (char) => entities[char] ?? char);
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\r': '&#13;',
};
