"""What an agent asks the user: permission cards, forms, and pages. `ui/kit/answer_guard` decides what answers them.

A permission request is drawn by `request_drawing`, laid out by `request_body`, and answered by `request_keys`. It has
two places: the docked `permission_card` and the `full_request`. A form or a page is a `form_card`.
"""
