/** The parts of an OpenAPI document that a console reads. */
interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly example?: unknown;
}
interface Operation {
  readonly security?: readonly object[];
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: unknown }>> };
}
interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly parameters?: Readonly<Record<string, Parameter>> };
}

/** What a reader fills in to call an operation. */
export interface RequestForm {
  readonly needsKey: boolean;
  readonly fields: {
    readonly name: string;
    readonly in: Parameter['in'];
    readonly isRequired: boolean;
    value: string;
  }[];
  /** JSON; absent for operations without a body. */
  body: string | undefined;
}

/** The form of an operation, filled with the examples of the document. */
export function requestForm(document: OpenApi, method: string, path: string): RequestForm {
  const operation = document.paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
  if (operation === undefined) throw new Error(`This installation has no operation ${method} ${path}.`);
  const parameters = (operation.parameters ?? []).flatMap((parameter) =>
    '$ref' in parameter
      ? (document.components.parameters?.[parameter.$ref.split('/').at(-1) ?? ''] ?? [])
      : parameter,
  );
  const example = operation.requestBody?.content['application/json']?.example;
  return {
    needsKey: (operation.security ?? []).length > 0,
    fields: parameters.map(({ name, in: place, required = false, example: value = '' }) => ({
      name,
      in: place,
      isRequired: required,
      value: required ? String(value) : '',
    })),
    body: operation.requestBody === undefined ? undefined : JSON.stringify(example ?? {}, undefined, 2),
  };
}

/** Why the form cannot be sent; absent when it can. */
export function formProblem({ needsKey, fields, body }: RequestForm, key: string): string | undefined {
  if (needsKey && key.trim() === '') return 'Enter an API key first.';
  if (needsKey && key.startsWith('sk_')) {
    return 'The service refuses secret keys from browsers. Use a restricted key, such as consoleKey in .florin/world.json of the local world.';
  }
  const missing = fields.find(({ isRequired, value }) => isRequired && value.trim() === '');
  if (missing !== undefined) return `Enter ${missing.name} first.`;
  if (body === undefined) return undefined;
  try {
    JSON.parse(body);
    return undefined;
  } catch {
    return 'The body is not JSON.';
  }
}

/** The request that a form describes, to the service that serves this page. */
export function requestOf(
  method: string,
  path: string,
  { needsKey, fields, body }: RequestForm,
  key: string,
): Request {
  const filled = fields.filter(({ value }) => value.trim() !== '');
  const url = new URL(
    filled.reduce(
      (text, field) =>
        field.in === 'path' ? text.replace(`:${field.name}`, encodeURIComponent(field.value.trim())) : text,
      path,
    ),
    location.origin,
  );
  const headers = new Headers();
  for (const field of filled) {
    if (field.in === 'query') url.searchParams.set(field.name, field.value.trim());
    if (field.in === 'header') headers.set(field.name, field.value.trim());
  }
  if (needsKey) headers.set('authorization', `Bearer ${key.trim()}`);
  if (body !== undefined) headers.set('content-type', 'application/json');
  return new Request(url, { method, headers, credentials: 'omit', ...(body === undefined ? {} : { body }) });
}

/** An answer as a reader sees it. */
export async function answerText(response: Response): Promise<string> {
  const text = await response.text();
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
