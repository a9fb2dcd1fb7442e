// What readers choose, kept in their browser: the unit of amounts, and light or dark.

import { useEffect, useState } from 'preact/hooks';
import type { Unit } from './amounts';

export type Theme = 'auto' | 'light' | 'dark';

class Setting<T extends string> {
  readonly #key: string;
  readonly #choices: readonly [T, ...T[]];
  readonly #listeners = new Set<() => void>();
  #value: T;

  /** The first choice is the default. */
  constructor(key: string, choices: readonly [T, ...T[]]) {
    this.#key = `explorer:${key}`;
    this.#choices = choices;
    this.#value = this.#read();
    // Another tab may change it.
    addEventListener('storage', () => {
      this.#set(this.#read());
    });
  }

  get value(): T {
    return this.#value;
  }

  /** Chooses the one behind the present one. */
  next(): void {
    const chosen = this.#choices[(this.#choices.indexOf(this.#value) + 1) % this.#choices.length] ?? this.#choices[0];
    try {
      localStorage.setItem(this.#key, chosen);
    } catch {
      // The browser keeps nothing: it holds for this page.
    }
    this.#set(chosen);
  }

  follow(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #set(value: T): void {
    this.#value = value;
    for (const listener of this.#listeners) listener();
  }

  #read(): T {
    try {
      const kept = localStorage.getItem(this.#key);
      return this.#choices.find((choice) => choice === kept) ?? this.#choices[0];
    } catch {
      return this.#choices[0];
    }
  }
}

export const UNIT = new Setting<Unit>('unit', ['BTC', 'sats']);
export const THEME = new Setting<Theme>('theme', ['auto', 'light', 'dark']);

/** The value of a setting, in a component that is drawn again when it changes. */
export function useSetting<T extends string>(setting: Setting<T>): T {
  const [value, setValue] = useState(setting.value);
  useEffect(
    () =>
      setting.follow(() => {
        setValue(setting.value);
      }),
    [setting]
  );
  return value;
}

/** Has the document show the chosen theme from now on. */
export function applyTheme(): void {
  const apply = (): void => {
    document.documentElement.dataset['theme'] = THEME.value;
  };
  THEME.follow(apply);
  apply();
}
