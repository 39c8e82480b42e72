// The plan: comments that leave together as one change request, and the choice of revisions.
import { ask, path, press, send, toast, told } from './app.js'
import { comments, quoting } from './comments.js'

const LONGEST = 19_000
const drafts = comments('plan', (list) => {
  for (const one of document.querySelectorAll('[data-with-drafts]')) one.hidden = !list.length
})

async function request(button) {
  const list = drafts.written()
  const text = quoting(list)
  if (text.length > LONGEST) return toast(document.getElementById('texts').dataset.request)
  button.disabled = true
  const { press: name, sends } = button.dataset
  const answer = await told(await (name ? send('/press', { button: name, text }) : send('/say', { session: sends, text })))
  button.disabled = false
  if (answer?.taken) drafts.remove(list.map((one) => one.id))
}
async function approve(button) {
  if (await ask(button.dataset.unsent)) press(button)
}

// Before the page's own listener: a press with drafts means something else.
document.addEventListener('click', (e) => {
  const sends = e.target.closest('#view [data-sends]')
  const approves = e.target.closest('#view [data-unsent]')
  if (!(sends || approves) || !drafts.written().length) return
  e.stopPropagation()
  if (sends) request(sends)
  else approve(approves)
}, true)
document.addEventListener('change', (e) => {
  if (e.target.matches('[data-leads]') && path().startsWith('s/')) location.hash = e.target.value
})
