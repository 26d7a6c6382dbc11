"""What an agent asks the user: permission cards, forms, and pages. `ui/kit/answer_guard` decides what answers them.

A permission request has two hosts, the docked `permission_card` and the `full_request`. Each answers by `request_keys`,
and has a `request_body` that shows the request, with the lines of `request_drawing`. A form or a page is a `form_card`.
"""
