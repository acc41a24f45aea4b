//! What a client may ask and what the server looks at before it does it.
