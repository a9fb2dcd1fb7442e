// Holds answers against the schemas of a description (OpenAPI, OpenRPC): what an answer has that its schema does not, and whether it would
// be noticed if a field that it must have were lacking.

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020';

/** A schema as a document has it. */
export interface DocumentSchema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, DocumentSchema>>;
  readonly required?: readonly string[];
  readonly items?: DocumentSchema;
  readonly prefixItems?: readonly DocumentSchema[];
  readonly additionalProperties?: DocumentSchema;
  readonly anyOf?: readonly DocumentSchema[];
  readonly pattern?: string;
}

export interface Document {
  readonly components: { readonly schemas: Readonly<Record<string, DocumentSchema>> };
}

type Fields = Record<string, unknown>;

/** Longer lists and maps are cut before fields are taken away: each try reads the whole answer. */
const MOST_ITEMS = 3;

export class Described {
  readonly #ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictTypes: false });
  readonly #components: Document['components'];
  readonly #compiled = new Map<string, ValidateFunction>();
  /** Fields that an object of a schema may lack: whether one had it, and whether one lacked it. */
  readonly #optional = new Map<string, { had: boolean; lacked: boolean }>();

  constructor({ components }: Document) {
    this.#components = closed(components) as Document['components'];
    this.#ajv.addVocabulary(['components']);
  }

  /** What is wrong with an answer; undefined: nothing. Fields that the schema does not have are wrong as well. */
  faultIn(schema: DocumentSchema, answer: unknown): string | undefined {
    const validate = this.#validatorOf(schema);
    if (validate(answer)) return undefined;
    return JSON.stringify(validate.errors?.map(({ instancePath, message, params }) => ({ instancePath, message, params })));
  }

  /** Fields of the answer that must be there, and that nobody would miss. An answer that is wrong has none. */
  unmissed(schema: DocumentSchema, answer: unknown): string[] {
    const short = shortened(answer);
    const validate = this.#validatorOf(schema);
    if (!validate(short)) return [`a shorter answer is wrong: ${this.faultIn(schema, short) ?? ''}`];
    const unmissed: string[] = [];
    for (const { object, field, place } of this.#requiredIn(schema, short, '')) {
      const value = object[field];
      // Not restored into its place: no schema depends on the order.
      // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- it is what is tested
      delete object[field];
      if (validate(short)) unmissed.push(`${place}/${field}`);
      object[field] = value;
    }
    return unmissed;
  }

  /** Optional fields that all answers had, and those that none had. */
  get unproven(): { readonly always: string[]; readonly never: string[] } {
    const entries = [...this.#optional];
    return {
      always: entries
        .filter(([, { lacked }]) => !lacked)
        .map(([name]) => name)
        .sort(),
      never: entries
        .filter(([, { had }]) => !had)
        .map(([name]) => name)
        .sort()
    };
  }

  /** How many required fields the answers had that were looked at. */
  taken = 0;

  /** `within`: the field that has the value, from the last named schema on. */
  *#requiredIn(
    schema: DocumentSchema,
    value: unknown,
    place: string,
    within = ''
  ): Generator<{ object: Fields; field: string; place: string }> {
    const { of, name } = this.#resolved(schema, value);
    const at = name ?? within;
    if (Array.isArray(value)) {
      for (const [i, item] of (value as readonly unknown[]).entries()) {
        const itemSchema = of.prefixItems?.[i] ?? of.items;
        if (itemSchema !== undefined) yield* this.#requiredIn(itemSchema, item, `${place}/${i}`, at);
      }
    } else if (typeof value === 'object' && value !== null) {
      const object = value as Fields;
      for (const [field, fieldSchema] of Object.entries(of.properties ?? {})) {
        const isThere = field in object;
        if (of.required?.includes(field) === true) {
          this.taken++;
          yield { object, field, place };
        } else this.#note(`${at}.${field}`, isThere);
        if (isThere) yield* this.#requiredIn(fieldSchema, object[field], `${place}/${field}`, `${at}.${field}`);
      }
      const { additionalProperties: more } = of;
      if (typeof more === 'object')
        for (const [key, one] of Object.entries(object))
          if (of.properties?.[key] === undefined) yield* this.#requiredIn(more, one, `${place}/*`, at);
    }
  }

  #note(name: string, isThere: boolean): void {
    const { had, lacked } = this.#optional.get(name) ?? { had: false, lacked: false };
    this.#optional.set(name, { had: had || isThere, lacked: lacked || !isThere });
  }

  /** Without references, and of several schemas the one that the value has. */
  #resolved(schema: DocumentSchema, value: unknown, name?: string): { readonly of: DocumentSchema; readonly name: string | undefined } {
    const { $ref, anyOf } = schema;
    if ($ref !== undefined) {
      const [, called = ''] = /^#\/components\/schemas\/(\w+)$/.exec($ref) ?? [];
      const found = this.#components.schemas[called];
      if (found === undefined) throw new Error(`expected a schema that the document has, got ${$ref}`);
      return this.#resolved(found, value, called);
    }
    if (anyOf === undefined) return { of: schema, name };
    const place = anyOf.findIndex((one) => this.#validatorOf(one)(value));
    return this.#resolved(anyOf[place] ?? {}, value, name === undefined ? undefined : `${name}(${place})`);
  }

  #validatorOf(schema: DocumentSchema): ValidateFunction {
    const key = JSON.stringify(schema);
    const known = this.#compiled.get(key) ?? this.#ajv.compile({ ...(closed(schema) as object), components: this.#components });
    this.#compiled.set(key, known);
    return known;
  }
}

/** A schema that takes no fields beside its own. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const all = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  const isObject = 'properties' in schema && (schema as { type?: unknown }).type === 'object';
  return isObject && !('additionalProperties' in schema) ? { ...all, additionalProperties: false } : all;
}

/** With the first entries of lists and maps alone. What has text keys of one length is a map of hashes. */
function shortened(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, MOST_ITEMS).map(shortened);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const isMap = entries.length > MOST_ITEMS && entries.every(([key]) => /^[0-9a-f]{64}$/.test(key));
  return Object.fromEntries((isMap ? entries.slice(0, MOST_ITEMS) : entries).map(([key, one]) => [key, shortened(one)]));
}
