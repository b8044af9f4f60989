import type { CallApi } from './tool.ts';

/** A page of the documentation, as Markdown. */
export interface DocumentResource {
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  readonly mimeType: 'text/markdown';
}

/** A line of `/llms.txt`: `- [title](address): summary`. */
const entry = /^- \[(.+)\]\((https?:\/\/[^)\s]+\.md)\): (.*)$/gm;

/** The pages that the installation's index for language models lists; none until its documentation is built. */
export async function listDocuments(callApi: CallApi): Promise<DocumentResource[]> {
  const index = await callApi({ method: 'GET', path: '/llms.txt' });
  return [...index.matchAll(entry)].map(([, name = '', uri = '', description = '']) => ({
    ...{ uri, name, description, mimeType: 'text/markdown' },
  }));
}

/** The text of a listed page; undefined for every other address, so that nothing else is read with the caller's key. */
export async function readDocument(callApi: CallApi, uri: string): Promise<string | undefined> {
  const listed = (await listDocuments(callApi)).some((each) => each.uri === uri);
  return listed ? callApi({ method: 'GET', path: new URL(uri).pathname }) : undefined;
}
