// Asks the user for a token when the node requires one.

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { giveToken, tokenWanted } from '../api/http.ts';

export function Token() {
  const dialog = useRef<HTMLDialogElement>(null);
  const text = useSignal('');
  const wanted = tokenWanted.value;
  useEffect(() => {
    if (wanted !== null && !dialog.current!.open) dialog.current!.showModal();
    if (wanted === null && dialog.current!.open) dialog.current!.close();
  }, [wanted]);
  return (
    <dialog ref={dialog} aria-labelledby="token-title" onCancel={(event) => event.preventDefault()}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const given = text.value;
          text.value = '';
          giveToken(given);
        }}
      >
        <h2 id="token-title">This node asks for a token</h2>
        <p class="note">Whoever runs the node gives it to you. The page keeps it in memory only: it is gone when you close or reload the page.</p>
        {wanted ? <p class="trouble" role="alert">{wanted}</p> : null}
        <label>
          Token
          <input type="password" autocomplete="off" value={text.value} onInput={(event) => (text.value = event.currentTarget.value)} />
        </label>
        <div class="tools">
          <button type="submit" class="first" disabled={!text.value.trim()}>Continue</button>
        </div>
      </form>
    </dialog>
  );
}
