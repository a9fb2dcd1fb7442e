// Asks for the node's key, where the node wants it from those who read (`--rest-auth`).

import { useState } from 'preact/hooks';
import { useSession } from '../state/session';
import { useTitle } from './page';

export function KeyPage() {
  const session = useSession();
  const [key, setKey] = useState('');
  useTitle('Key');
  return (
    <section class="card narrow" aria-labelledby="key-title">
      <h1 id="key-title">This node asks for its key</h1>
      <p class="quiet">It is the one that the node was started with (--api-key). It is kept until this tab is closed.</p>
      <form
        class="key"
        onSubmit={(event) => {
          event.preventDefault();
          if (key !== '') session.useKey(key);
        }}
      >
        {/* Where browsers keep keys, by this name. */}
        <input type="text" name="username" autocomplete="username" value="explorer" hidden readOnly />
        <label for="key">Key</label>
        <input
          id="key"
          type="password"
          autocomplete="current-password"
          value={key}
          onInput={({ currentTarget }) => {
            setKey(currentTarget.value);
          }}
          aria-describedby="key-fault"
        />
        <p id="key-fault" class="bad-text" role="alert">
          {session.keyFault}
        </p>
        <button type="submit" class="primary">
          Open
        </button>
      </form>
    </section>
  );
}
