// The operations of an OpenAPI document: which one a request is of, and what is wrong with an answer to it.

import { Described, type Document, type DocumentSchema } from './described';

interface DocumentOperation {
  readonly operationId: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: DocumentSchema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: DocumentSchema }>> };
  readonly responses: Readonly<Record<string, { readonly content: Readonly<Record<string, { readonly schema?: DocumentSchema }>> }>>;
}

export interface HttpDocument extends Document {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>;
}

export interface Operation {
  readonly method: string;
  /** Below the interface's path, with parameters in braces. */
  readonly path: string;
  readonly of: DocumentOperation;
}

/** An answer as a client gets it. */
export interface HttpAnswer {
  readonly status: number;
  readonly contentType: string | null | undefined;
  readonly body: Buffer;
}

export class DescribedHttp {
  readonly schemas: Described;
  readonly operations: readonly Operation[];

  constructor(document: HttpDocument) {
    this.schemas = new Described(document);
    this.operations = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, of]) => ({ method: method.toUpperCase(), path, of }))
    );
  }

  /** The operation of a request; if the path is of several, the one whose parameters it has. `path`: below the interface's, without a query. */
  find(method: string, path: string): Operation | undefined {
    const found = this.operations.filter((one) => one.method === method && valuesIn(path, one.path) !== undefined);
    return found.find((one) => this.hasParameters(one, path)) ?? found[0];
  }

  /** Whether the parameters in the path are as the operation says. */
  hasParameters({ path: template, of: { parameters = [] } }: Operation, path: string): boolean {
    const values = valuesIn(path, template) ?? [];
    return parameters
      .filter((one) => one.in === 'path')
      .every(({ schema }, i) => {
        const text = values[i] ?? '';
        const isNumber = 'type' in schema && schema.type === 'integer';
        return this.schemas.faultIn(schema, isNumber ? Number(text) : text) === undefined;
      });
  }

  /** What is wrong with an answer; undefined: nothing. */
  faultIn({ of: { responses } }: Operation, { status, contentType, body }: HttpAnswer): string | undefined {
    const content = responses[status]?.content[(contentType ?? '').split(';')[0] ?? ''];
    if (content === undefined) return `status ${status} with ${String(contentType)} is not described`;
    return content.schema === undefined ? undefined : this.schemas.faultIn(content.schema, valueIn(contentType, body));
  }

  /** Fields of a JSON answer that must be there, and that nobody would miss. */
  unmissed({ of: { responses } }: Operation, { status, contentType, body }: HttpAnswer): string[] {
    const schema = responses[status]?.content['application/json']?.schema;
    return schema === undefined ? [] : this.schemas.unmissed(schema, valueIn(contentType, body));
  }
}

/** What the parameters of a template are in a path. */
function valuesIn(path: string, template: string): string[] | undefined {
  const pattern = template
    .replaceAll('.', '\\.')
    .replaceAll('{outpoints}', '(.+)')
    .replaceAll(/\{\w+\}/g, '([^/]*)');
  return new RegExp(`^${pattern}$`).exec(path)?.slice(1);
}

/** Texts are described as strings; numbers among them as numbers. */
function valueIn(contentType: string | null | undefined, body: Buffer): unknown {
  const text = body.toString();
  if (contentType?.startsWith('application/json') === true) return JSON.parse(text);
  return /^\d{1,10}$/.test(text) ? Number(text) : text;
}
