// A plugin of TypeDoc: a document of the site has its first heading as its name, not the name of its file.
import { Converter } from 'typedoc';

/** @param {import('typedoc').Application} app */
export function load(app) {
  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_context, document) => {
    const text = document.content.map((part) => part.text).join('');
    const title = /^# (.+)$/m.exec(text)?.[1];
    if (title !== undefined) document.name = title.replaceAll('`', '');
  });
}
